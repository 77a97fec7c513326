import { plural } from '../base/text.ts';
import { barChart, clockOf, weekChart } from './charts.ts';
import { escapeHtml } from './escape.ts';
import { STYLE } from './style.ts';
import {
  byHour,
  byWeekday,
  grouped,
  type List,
  periods,
  scopeOf,
  share,
  type Summary,
} from './summary.ts';
import { titleOf } from './terminal.ts';

const DAYS_MAX = 200;

/** The report as one page that stands alone: no script, nothing loaded. */
export function htmlReport(summary: Summary): string {
  const { project, days, timeZone } = summary;
  const title = project === undefined ? 'Page views' : `Page views of project ${project}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(capitalized(scopeOf(summary)))}. Days and hours in ${escapeHtml(timeZone)}.</p>
</header>
${figures(summary)}
${days.length === 0 ? '<p>There are no views.</p>' : charts(summary)}
<div class="lists">
${lists(summary)}
</div>
${footer(summary)}
</main>
</body>
</html>
`;
}

function figures({ views, days, pages }: Summary): string {
  const busiest = days.reduce((a, b) => (b.views > a.views ? b : a), { day: '', views: 0 });
  const hours = byHour(days);
  const hour = hours.indexOf(Math.max(...hours));
  const items: [string, string][] = [
    [grouped(views), views === 1 ? 'view' : 'views'],
    [grouped(Math.round(views / Math.max(1, days.length))), 'views a day'],
    [days.length === 0 ? '–' : busiest.day, 'busiest day'],
    [days.length === 0 ? '–' : clockOf(hour), 'busiest hour'],
    [`${pages.isExact ? '' : '> '}${grouped(pages.distinct)}`, 'different pages'],
  ];
  const drawn = items.map(
    ([figure, what]) => `<li><b>${escapeHtml(figure)}</b><span>${what}</span>`,
  );
  return `<ul class="figures">${drawn.join('</li>')}</li></ul>`;
}

function charts({ days }: Summary): string {
  const spans = periods(days, DAYS_MAX);
  const noun = days.length > DAYS_MAX ? 'month' : 'day';
  const bars = spans.map(({ name, views }) => ({
    label: name,
    tick: noun === 'day' ? name.slice(5) : name,
    count: views,
  }));
  const hours = byHour(days).map((count, hour) => ({
    label: clockOf(hour),
    tick: clockOf(hour),
    count,
  }));
  const week = weekChart('Views by weekday and hour', byWeekday(days));
  return [
    `<section><h2>Views a ${noun}</h2>${barChart(`Views a ${noun}`, bars)}</section>`,
    `<section><h2>By hour of the day</h2>${barChart('Views by hour of the day', hours)}</section>`,
    days.length < 7 ? '' : `<section><h2>By weekday and hour</h2>${week}</section>`,
  ].join('\n');
}

function lists(summary: Summary): string {
  const { views, pages, projects, referrers, languages, templates, refused } = summary;
  const several = projects.distinct > 1;
  const plain = (noun: string, list: List<string>): string =>
    table(noun, list, views, (text) => escapeHtml(text));
  return [
    table(
      'Pages',
      pages,
      views,
      ({ project, url, name }) =>
        `${several ? `<span>${escapeHtml(project)}</span> ` : ''}${escapeHtml(url)}` +
        (name === '' ? '' : ` <span>${escapeHtml(name)}</span>`),
      'wide',
    ),
    several ? plain('Projects', projects) : '',
    plain('Referrers', referrers),
    plain('Languages', languages),
    plain('Templates', templates),
    table(
      'Refused views that were kept',
      refused,
      refused.views,
      ({ code, project }) => `${escapeHtml(code)} <span>${escapeHtml(project)}</span>`,
    ),
  ].join('\n');
}

function table<T>(
  noun: string,
  list: List<T>,
  total: number,
  label: (key: T) => string,
  kind = '',
): string {
  if (list.top.length === 0) return '';
  const most = list.top[0]!.count;
  const rows = list.top.map(
    ({ key, count }) =>
      `<tr style="--part: ${((100 * count) / most).toFixed(1)}%"><th scope="row">${label(key)}</th>` +
      `<td>${grouped(count)}</td><td>${share(count, total)}</td></tr>`,
  );
  const remark = titleOf(noun, list).slice(noun.length);
  return (
    `<section class="${kind}"><h2>${noun}<small>${remark}</small></h2>` +
    `<table>${rows.join('')}</table></section>`
  );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function footer({ invalidLines }: Summary): string {
  const invalid = invalidLines > 0 ? ` ${plural(invalidLines, 'invalid line')} skipped.` : '';
  return `<footer>Made with viewlog from its view files.${invalid}</footer>`;
}
