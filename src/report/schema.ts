import * as v from 'valibot';

// The only list of a report's contents. `data/report.schema.json` is generated from it.

const described = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.description(description));

const text = v.string();
const describedText = (description: string) => described(text, description);
const flagOf = (description: string) => described(v.boolean(), description);
const views = v.pipe(v.number(), v.integer(), v.minValue(0));
const viewsOf = (description: string) => described(views, description);
const day = v.pipe(text, v.regex(/^\d{4}-\d\d-\d\d$/));
const span = v.object({ fromDay: day, toDay: day });
const hours = described(v.array(views), '24 numbers: views by local hour.');

const viewsBefore = v.optional(viewsOf('Views in the previous period, if that has views.'));

function listOf<K extends v.GenericSchema>(key: K, description: string) {
  const row = v.object({ key, count: views, before: viewsBefore });
  const list = v.object({
    top: described(v.array(row), 'The most frequent values, at most --top.'),
    distinct: viewsOf('The number of different values.'),
    isExact: flagOf('false if rare values were dropped to limit memory.'),
  });
  return described(list, description);
}

const page = v.object({
  project: text,
  url: describedText('The decoded path; with its query only if --query is given.'),
  name: describedText(
    'The title that most of its views had; beyond 100,000 titles, it may be the latest.',
  ),
});

const campaign = v.object({ campaign: text, source: text, medium: text });

const before = v.object({
  ...span.entries,
  isCut: flagOf('true if its last day counts only up to the present time of day.'),
  views,
  silentSpans: described(v.array(span), 'Its full days without views.'),
});

const yesterday = viewsOf('Views of yesterday up to this time of day.');
const today = v.object({ day, views, yesterday });
const lastWeek = v.object({ views, before: views });

const isPartial = v.optional(flagOf("true for today, which isn't complete."));
const isUnread = v.optional(
  flagOf('true if its file could not be read: it is damaged or compressed with zstd.'),
);
const days = v.array(v.object({ day, views, hours, isPartial, isUnread }));

const silence = v.object({
  project: text,
  views: viewsOf('Its views on the other days.'),
  days: viewsOf('The number of days.'),
  spans: v.array(span),
});

const DAYS =
  'Every requested day; without a first day, from the first to the last day with views. If that is ' +
  'more than 3,660 days, from the first day with views; if that is, too, or if files were named, ' +
  'only the days with views.';
const SILENT_DAYS =
  'Projects with full days without views after their first view, and listed active projects ' +
  'without any views.';

export const ReportSchema = v.object({
  version: describedText('The version of viewlog that made the report.'),
  madeAt: describedText('When the report was made: RFC 3339, UTC.'),
  timeZone: describedText('The time zone of all days and hours.'),
  fromDay: v.optional(described(day, 'The first requested day.')),
  toDay: v.optional(described(day, 'The last requested day.')),
  project: v.optional(describedText('The requested project.')),
  projectNames: described(v.record(text, text), 'Names by id, from the projects file.'),
  views: viewsOf('All views of the requested days.'),
  before: v.optional(described(before, 'The previous period, if a first day was requested.')),
  today: v.optional(
    described(today, 'Today so far, if today is requested and it or yesterday has views.'),
  ),
  lastWeek: v.optional(described(lastWeek, 'The last 7 full days and the 7 full days before.')),
  averageDay: v.optional(
    described(v.pipe(v.number(), v.minValue(0)), 'Views per full day; below 10, with one decimal.'),
  ),
  busiestDay: v.optional(v.object({ day, views })),
  busiestHour: v.optional(v.object({ hour: views, views })),
  invalidLines: viewsOf("Lines skipped because they aren't views in JSON."),
  brokenFiles: viewsOf('Compressed files that could be read only in part.'),
  days: described(days, DAYS),
  hours,
  silentSpans: described(v.array(span), 'Full days without any view.'),
  silentSince: v.optional(
    described(
      day,
      'The last day with views, if that is before yesterday and later days were requested.',
    ),
  ),
  silentDays: described(v.array(silence), SILENT_DAYS),
  projects: listOf(text, 'Views by project id.'),
  pages: listOf(page, 'Views by page.'),
  entryPages: listOf(page, 'Views that came from elsewhere, by page.'),
  entryViews: viewsOf('All views that came from elsewhere.'),
  referrers: listOf(text, 'Views by source: a name, a host, (none), or (not an address).'),
  internalViews: viewsOf("Views that came from the project's own pages."),
  campaigns: listOf(campaign, 'Views by the utm_* parameters of their page.'),
  campaignViews: viewsOf('All views with a campaign.'),
  languages: listOf(text, 'Views by language: a BCP 47 tag or (none).'),
  templates: listOf(text, 'Views by template id or (none).'),
});

export type Report = v.InferOutput<typeof ReportSchema>;

/** One of the report's lists. */
export type List<K> = v.InferOutput<ReturnType<typeof listOf<v.GenericSchema<K>>>>;
