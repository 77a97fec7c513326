import { plural } from '../base/text.ts';
import { type Bar, barChart, clockOf, weekChart } from './charts.ts';
import { escapeHtml } from './escape.ts';
import { figures } from './figures.ts';
import { localHours } from './local-hour.ts';
import { STYLE } from './style.ts';
import { byHour, byWeekday, periods, type Summary } from './summary.ts';
import { listTable } from './list-table.ts';
import {
  CHANGE_RULE,
  campaignInWords,
  dayInWords,
  faultsOf,
  grouped,
  idInWords,
  languageInWords,
  projectInWords,
  sourceInWords,
  spanInWords,
  spanTold,
  tickOf,
  timeMade,
  weekdayOf,
  wholesOf,
} from './words.ts';

const DAYS_MAX = 200;
/** Days that each have their weekday, on a phone its letter. */
const WEEKDAYS_MAX = 35;
/** Days that each have their date, where there is room; of more, Mondays have it. */
const DATES_MAX = 14;
const SPANS_MAX = 5;

/** The report as one page that stands alone: no script, nothing loaded. */
export function htmlReport(summary: Summary): string {
  const { days } = summary;
  const site = siteOf(summary);
  const title = site === undefined ? 'Page views' : `Page views of ${site}`;
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
<h1>${site === undefined ? title : `Page views of <bdi>${escapeHtml(site)}</bdi>`}</h1>
<p>${escapeHtml(aboutOf(summary))}</p>
<p>${escapeHtml(makingOf(summary))}</p>
</header>
${figures(summary)}
${summary.views === 0 ? '<p>There are no views in these days.</p>' : ''}
${summary.views === 0 || days.length < 2 ? '' : daysChart(summary)}
${silence(summary)}
<div class="lists">
${lists(summary)}
</div>
${summary.views === 0 ? '' : hoursCharts(summary)}
<div class="lists">
${restLists(summary)}
</div>
${footer(summary)}
</main>
</body>
</html>
`;
}

/** The one site that the report is about. */
function siteOf(summary: Summary): string | undefined {
  const { project, projects, silentDays } = summary;
  const told =
    projects.distinct > 0
      ? projects.top.map(({ key }) => key)
      : silentDays.map(({ project }) => project);
  const id = project ?? (projects.distinct > 1 || told.length > 1 ? undefined : told[0]);
  return id === undefined ? undefined : projectInWords(summary, id);
}

function aboutOf(summary: Summary): string {
  const { before } = summary;
  const span = spanTold(summary);
  const told = span === undefined ? 'No day' : spanInWords(span);
  if (before === undefined) return told;
  const hour = before.isCut ? ` up to ${timeMade(summary)}` : '';
  return `${told}, compared with ${spanInWords(before)}${hour}`;
}

function daysChart({ days }: Summary): string {
  const isDays = days.length <= DAYS_MAX;
  const hasWeekdays = days.length <= WEEKDAYS_MAX;
  const hasWeeks = hasWeekdays && days.length > DATES_MAX;
  const shown = periods(days, DAYS_MAX);
  const bars = shown.map(({ name, views, isPartial, isGap }): Bar => {
    if (!isDays) return { label: name, tick: name, count: views, isPartial, isGap };
    const weekday = weekdayOf(name);
    const tick = hasWeeks && weekday !== 'Monday' ? '' : tickOf(name);
    const bar = { label: dayInWords(name), tick, count: views, isPartial, isGap };
    return hasWeekdays ? Object.assign(bar, { weekday }) : bar;
  });
  const title = isDays ? 'Views a day' : 'Views a month';
  const partial = isDays ? 'today so far' : 'this month so far';
  const chart = barChart(title, bars, { isNumbered: true, partial });
  return `<section><h2>${title}</h2>${chart}</section>`;
}

function hoursCharts({ days, madeAt, timeZone }: Summary): string {
  const bars = byHour(days).map((count, hour) => ({
    label: clockOf(hour),
    tick: clockOf(hour),
    count,
  }));
  const week = byWeekday(days, localHours(timeZone)(madeAt)!);
  const title = 'Views by weekday and hour, on average';
  const together =
    days.length === 1 ? '' : `<small>all ${grouped(days.length)} days together</small>`;
  return [
    `<section><h2>By hour of the day${together}</h2>${barChart('Views by hour of the day', bars)}</section>`,
    days.length < 7
      ? ''
      : `<section><h2>By weekday and hour<small>views in an average week</small></h2>${weekChart(title, week)}</section>`,
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
  const { pages, entryPages, projects, referrers, campaigns, internalViews, before } = summary;
  const wholes = wholesOf(summary);
  const several = projects.distinct > 1;
  const page = ({ project, url, name }: Page) => ({
    name: url,
    rest: [name, several ? projectInWords(summary, project) : ''].filter(Boolean),
  });
  const compared = before === undefined || before.views === 0 ? {} : { before };
  const rule = 'before' in compared ? CHANGE_RULE : '';
  const wide = { isWide: true, ...compared };
  const inside = internalViews > 0 ? `besides ${grouped(internalViews)} from page to page` : '';
  const project = named((id) => projectInWords(summary, id));
  return [
    several ? listTable('Projects', projects, wholes.all, project, { ...wide, remark: rule }) : '',
    listTable('Pages', pages, wholes.all, page, { ...wide, remark: several ? '' : rule }),
    listTable('Sources', referrers, wholes.sources, named(sourceInWords), {
      ...wide,
      remark: inside,
    }),
    listTable('Campaigns', campaigns, wholes.campaigns, campaignInWords, wide),
    listTable('Entry pages', entryPages, wholes.entries, page, { isWide: true }),
  ].join('\n');
}

const restLists = ({ views, languages, templates }: Summary): string =>
  [
    listTable('Languages', languages, { total: views }, named(languageInWords)),
    listTable('Templates', templates, { total: views }, named(idInWords)),
  ].join('\n');

const named =
  (inWords: (key: string) => string) =>
  (key: string): { name: string; rest: string[] } => ({ name: inWords(key), rest: [] });

function makingOf({ madeAt, timeZone, version }: Summary): string {
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    dateStyle: 'long',
    timeStyle: 'short',
  }).format(new Date(madeAt));
  return `Made ${made} by viewlog ${version}. Days and hours in ${timeZone}.`;
}

function footer(summary: Summary): string {
  const faults = faultsOf(summary);
  return faults.length === 0 ? '' : `<footer>${faults.join('. ')}.</footer>`;
}
