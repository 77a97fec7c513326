import { formatCount, plural } from '../base/format.ts';
import type { List, Report } from './schema.ts';
import { NO_SOURCE, NOT_AN_ADDRESS } from './sources.ts';
import { NONE } from './totals.ts';
import { changeOf, once, projectInWords, share } from './words.ts';

// The report's lists as tables of texts, for the terminal and the page.

interface Row {
  /** The label, and a note that explains it. */
  readonly texts: readonly string[];
  readonly count: number;
  readonly share: string;
  /** `undefined` if nothing is compared. */
  readonly change: string | undefined;
}

export interface Table {
  readonly title: string;
  readonly remark: string;
  /** The number of views that the shares are of. */
  readonly total: number;
  readonly rows: readonly Row[];
}

/** Returns a table per list, without lists that say nothing. */
export function tablesOf(report: Report): Table[] {
  const { campaignViews, entryViews, internalViews, projects, views } = report;
  const several = projects.distinct > 1;
  const page = ({ project, url, name }: Report['pages']['top'][number]['key']) =>
    [name, url, several ? projectInWords(report, project) : ''].filter(Boolean);
  const own = `not counting ${formatCount(internalViews)} from the site's own pages`;
  const whichSources = internalViews === 0 ? 'from elsewhere' : `from elsewhere, ${own}`;
  const tables = [
    tableOf('Projects', projects, views, '', (id) => [projectInWords(report, id)]),
    tableOf('Pages', report.pages, views, '', page),
    tableOf('Sources', report.referrers, views - internalViews, whichSources, sourceInWords),
    tableOf('Campaigns', report.campaigns, campaignViews, 'with a campaign', (key) =>
      [key.campaign, key.source, key.medium].filter(Boolean),
    ),
    tableOf('Entry pages', report.entryPages, entryViews, 'that began a visit', page),
    tableOf('Languages', report.languages, views, '', languageInWords),
    tableOf('Templates', report.templates, views, '', (id) => [id === NONE ? 'Unknown' : id]),
  ];
  return tables.filter(({ title, rows }) => {
    if (title === 'Projects') return several;
    return rows.length > 0 || title === 'Campaigns';
  });
}

const NONE_TAGGED = 'no views came from a tagged link (utm_*)';

/** @param which views the shares are of; empty for all. */
function tableOf<T>(
  title: string,
  { top, distinct, isExact }: List<T>,
  total: number,
  which: string,
  textsOf: (key: T) => readonly string[],
): Table {
  const of = `${isExact ? '' : 'more than '}${formatCount(distinct)}`;
  const remarks = [
    top.length < distinct ? `${top.length} of ${of}` : '',
    isExact ? '' : 'counts are approximate',
    which === '' ? '' : `share of ${plural(total, 'view')} ${which}`,
  ];
  const remark = remarks.filter(Boolean).join(', ');
  const rows = top.map(({ key, count, before }) => ({
    texts: textsOf(key),
    count,
    share: share(count, total),
    change: before === undefined ? undefined : changeOf(count, before),
  }));
  return { title, remark: top.length === 0 ? NONE_TAGGED : remark, total, rows };
}

function sourceInWords(source: string): string[] {
  if (source === NO_SOURCE) return ['Direct or unknown'];
  return [source === NOT_AN_ADDRESS ? 'Not an address' : source];
}

const languages = once(() => new Intl.DisplayNames('en', { type: 'language' }));

/** Returns `Norwegian Bokmål (Norway)` for `nb-NO`. */
function languageInWords(tag: string): string[] {
  try {
    return [tag === NONE ? 'Unknown' : (languages().of(tag) ?? tag)];
  } catch {
    return [tag]; // the line was not written by a collector
  }
}
