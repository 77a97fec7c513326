import { plural } from '../base/text.ts';
import { type Bar, barChart, clockOf, weekChart } from './charts.ts';
import { escapeHtml } from './escape.ts';
import { figures } from './figures.ts';
import { localHours } from './local-hour.ts';
import { STYLE } from './style.ts';
import { byHour, byWeekday, periods, type Summary } from './summary.ts';
import { listTable } from './list-table.ts';
import {
  campaignInWords,
  dayInWords,
  grouped,
  idInWords,
  languageInWords,
  projectInWords,
  sourceInWords,
  spanInWords,
  spanTold,
  tickOf,
} from './words.ts';

const DAYS_MAX = 200;
const SPANS_MAX = 5;

/** The report as one page that stands alone: no script, nothing loaded. */
export function htmlReport(summary: Summary): string {
  const { project, days } = summary;
  const title =
    project === undefined ? 'Page views' : `Page views of ${projectInWords(summary, project)}`;
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
<h1><bdi>${escapeHtml(title)}</bdi></h1>
<p>${escapeHtml(aboutOf(summary))}</p>
</header>
${figures(summary)}
${days.length === 0 ? '<p>There are no views.</p>' : daysChart(summary)}
${silence(summary)}
<div class="lists">
${lists(summary)}
</div>
${days.length === 0 ? '' : hoursCharts(summary)}
<div class="lists">
${restLists(summary)}
</div>
${footer(summary)}
</main>
</body>
</html>
`;
}

function aboutOf(summary: Summary): string {
  const { before } = summary;
  const span = spanTold(summary);
  const told = span === undefined ? 'No day' : spanInWords(span);
  if (before === undefined) return told;
  const hour = before.isCut ? ', up to this time of day' : '';
  return `${told}, compared with ${spanInWords(before)}${hour}`;
}

function daysChart({ days }: Summary): string {
  const isDays = days.length <= DAYS_MAX;
  const bars: Bar[] = periods(days, DAYS_MAX).map(({ name, views }) => ({
    label: isDays ? dayInWords(name) : name,
    tick: isDays ? tickOf(name) : name,
    count: views,
  }));
  const title = isDays ? 'Views a day' : 'Views a month';
  return `<section><h2>${title}</h2>${barChart(title, bars)}</section>`;
}

function hoursCharts({ days, madeAt, timeZone }: Summary): string {
  const bars = byHour(days).map((count, hour) => ({
    label: clockOf(hour),
    tick: clockOf(hour),
    count,
  }));
  const week = byWeekday(days, localHours(timeZone)(madeAt)!);
  const title = 'Views by weekday and hour, on average';
  return [
    `<section><h2>By hour of the day</h2>${barChart('Views by hour of the day', bars)}</section>`,
    days.length < 7
      ? ''
      : `<section><h2>By weekday and hour<small>views on an average week</small></h2>${weekChart(title, week)}</section>`,
  ].join('\n');
}

function silence(summary: Summary): string {
  const rows = summary.silentDays.map(({ project, days, spans }) => {
    const told = spans.slice(-SPANS_MAX).map(spanInWords).join('; ');
    const last = spans.length > SPANS_MAX ? 'the last: ' : '';
    return (
      `<li><bdi>${escapeHtml(projectInWords(summary, project))}</bdi> ` +
      `<span>${plural(days, 'day')}: ${last}${told}</span></li>`
    );
  });
  if (rows.length === 0) return '';
  return `<section class="silent"><h2>Days without views</h2><ul>${rows.join('')}</ul></section>`;
}

type Page = Summary['pages']['top'][number]['key'];

function lists(summary: Summary): string {
  const { views, pages, entryPages, projects, referrers, campaigns, internalViews, entryViews } =
    summary;
  const several = projects.distinct > 1;
  const page = ({ project, url, name }: Page) => ({
    name: url,
    rest: [name, several ? projectInWords(summary, project) : ''].filter(Boolean).join(' · '),
  });
  const inside = internalViews > 0 ? `besides ${grouped(internalViews)} from page to page` : '';
  const project = named((id) => projectInWords(summary, id));
  return [
    listTable('Pages', pages, views, page, { isWide: true }),
    listTable('Entry pages', entryPages, entryViews, page, {
      isWide: true,
      remark: 'where visits began',
    }),
    listTable('Sources', referrers, views - internalViews, named(sourceInWords), {
      remark: inside,
    }),
    listTable('Campaigns', campaigns, views, campaignInWords),
    several ? listTable('Projects', projects, views, project) : '',
  ].join('\n');
}

const restLists = ({ views, languages, templates }: Summary): string =>
  [
    listTable('Languages', languages, views, named(languageInWords)),
    listTable('Templates', templates, views, named(idInWords)),
  ].join('\n');

const named =
  (inWords: (key: string) => string) =>
  (key: string): { name: string; rest: string } => ({ name: inWords(key), rest: '' });

function footer({ invalidLines, madeAt, timeZone, version }: Summary): string {
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    dateStyle: 'long',
    timeStyle: 'short',
  }).format(new Date(madeAt));
  const invalid = invalidLines > 0 ? ` ${plural(invalidLines, 'invalid line')} skipped.` : '';
  return (
    `<footer>Made ${escapeHtml(made)} by viewlog ${escapeHtml(version)}. ` +
    `Days and hours in ${escapeHtml(timeZone)}.${invalid}</footer>`
  );
}
