import { plural } from '../base/format.ts';
import { type Bar, barChart, clockOf, hourInWords, weekChart } from './charts.ts';
import { escapeHtml } from './escape.ts';
import { figures } from './figures.ts';
import { quietProjects, scaleBefore } from './gaps.ts';
import { daysInShort } from './gaps-in-words.ts';
import { localHours } from './local-hour.ts';
import { linksTo, section } from './section.ts';
import { STYLE } from './style.ts';
import { byHour, byWeekday, hasWeeks, periods } from './by-time.ts';
import type { Summary } from './summary.ts';
import { listTable } from './list-table.ts';
import {
  campaignInWords,
  dayInWords,
  faultsOf,
  grouped,
  idInWords,
  languageInWords,
  projectInWords,
  siteOf,
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
  const details = summary.views === 0 ? '' : detailsOf(summary);
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
${linksTo(details)}
</header>
${figures(summary)}
${summary.views === 0 ? NOTHING : ''}
${summary.views === 0 || days.length < 2 ? '' : daysChart(summary)}
${details}
${summary.views === 0 ? '' : silence(summary)}
${footer(summary)}
</main>
</body>
</html>
`;
}

const NOTHING = '<p class="faint">Whether views arrive is told by viewlog’s status page.</p>';

/** What is below the first screen. */
const detailsOf = (summary: Summary): string => `<div class="lists">
${lists(summary)}
</div>
${hoursCharts(summary)}
<div class="lists">
${restLists(summary)}
</div>`;

function aboutOf(summary: Summary): string {
  const { before, views } = summary;
  const span = spanTold(summary);
  const told = span === undefined ? 'No day' : spanInWords(span);
  if (before === undefined || views + before.views === 0) return told;
  const which = before.fromDay === before.toDay ? '' : ', the last day';
  const hour = before.isCut ? `${which} up to ${timeMade(summary)}` : '';
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
  return section(title, chart);
}

function hoursCharts({ days, madeAt, timeZone }: Summary): string {
  const { hour: hourNow } = localHours(timeZone)(madeAt)!;
  const isToday = days.length === 1 && days[0]!.isPartial === true;
  const bars = byHour(days).map((count, hour) => ({
    label: hourInWords(hour),
    tick: clockOf(hour),
    count,
    isPartial: isToday && hour === hourNow,
  }));
  const chart = barChart('Views by hour of the day', bars, { partial: 'this hour so far' });
  const week = byWeekday(days, hourNow);
  const title = 'Views by weekday and hour, on average';
  const together = days.length === 1 ? '' : `All ${grouped(days.length)} days together`;
  return [
    section('By hour of the day', chart, { remark: together }),
    days.length < 7
      ? ''
      : section('By weekday and hour', weekChart(title, week), {
          remark: averagesInWords(days),
        }),
  ].join('\n');
}

const averagesInWords = (days: Summary['days']): string =>
  hasWeeks(days)
    ? 'Views in an average week'
    : 'Fewer than two full weeks, so this is not a pattern yet';

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
  return section('Days without views', `<ul>${rows.join('')}</ul>`, { kind: 'silent' });
}

type Page = Summary['pages']['top'][number]['key'];

function lists(summary: Summary): string {
  const { pages, entryPages, projects, referrers, campaigns, campaignViews, before } = summary;
  const wholes = wholesOf(summary);
  const several = projects.distinct > 1;
  const page = ({ project, url, name }: Page) => ({
    name: url,
    title: name,
    rest: several ? [projectInWords(summary, project)] : [],
  });
  const scale = scaleBefore(summary);
  const compared = before && scale !== undefined ? { compared: { before, scale } } : {};
  const wide = { isWide: true, ...compared };
  const bySource = 'In Sources the same views stand under the site that linked';
  const tagged = { ...wide, hints: referrers.top.length > 0 ? [bySource] : [] };
  const quiet = new Map(quietProjects(summary).map(({ project, days }) => [project, days]));
  const project = (id: string) => {
    const days = quiet.get(id);
    const rest = days === undefined ? [] : [`no view on ${daysInShort(days)}`];
    return { name: projectInWords(summary, id), rest, isGappy: days !== undefined };
  };
  return [
    several ? listTable('Projects', projects, wholes.all, project, wide) : '',
    listTable('Pages', pages, wholes.all, page, wide),
    listTable('Sources', referrers, wholes.sources, named(sourceInWords), wide),
    campaignViews > 0
      ? listTable('Campaigns', campaigns, wholes.campaigns, campaignInWords, tagged)
      : section('Campaigns', '', { remark: 'No view came by a tagged link (utm_*)', kind: 'wide' }),
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
