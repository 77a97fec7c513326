import * as v from 'valibot';

// The report as JSON, and the one list of what is in it. `data/report.schema.json` is made from it.

const told = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.description(description));

const views = v.pipe(v.number(), v.integer(), v.minValue(0));
const day = v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\d$/));

const BEFORE = 'Views in the span before; there where the report has "before".';

const listOf = <K extends v.GenericSchema>(key: K, description: string) =>
  told(
    v.object({
      top: told(
        v.array(v.object({ key, count: views, before: v.optional(told(views, BEFORE)) })),
        'The most frequent, as many as --top says.',
      ),
      distinct: told(views, 'How many different ones there are.'),
      isExact: told(v.boolean(), 'Whether none was forgotten to bound memory.'),
    }),
    description,
  );

const page = v.object({
  project: v.string(),
  url: told(v.string(), 'The path, readable; without its query but with --query.'),
  name: told(v.string(), 'As it was first seen.'),
});

export const ReportSchema = v.object({
  version: told(v.string(), 'The viewlog that made the report.'),
  madeAt: told(v.string(), 'When it was made: RFC 3339, UTC.'),
  timeZone: told(v.string(), 'Of all days and hours.'),
  fromDay: v.optional(told(day, 'First day asked for.')),
  toDay: v.optional(told(day, 'Last day asked for.')),
  project: v.optional(told(v.string(), 'The only project asked for.')),
  projectNames: told(
    v.record(v.string(), v.string()),
    'Names, by id, of the projects that have one in the projects file.',
  ),
  views: told(views, 'All views of the span.'),
  before: v.optional(
    told(
      v.object({
        fromDay: day,
        toDay: day,
        isCut: told(v.boolean(), 'Whether its last day is counted up to the present hour only.'),
        views,
        wholeDayViews: told(views, 'Those without its last day where that is cut.'),
        silentDays: told(views, 'How many of its whole days had no view at all.'),
        silentSpans: told(v.array(v.object({ fromDay: day, toDay: day })), 'Those days.'),
        days: told(
          v.array(v.object({ day, views })),
          'Each of its days that had views, the last up to the present hour where that is cut.',
        ),
      }),
      'The same span before; absent where no first day was asked for.',
    ),
  ),
  today: v.optional(
    told(
      v.object({
        day,
        views,
        yesterday: told(views, 'Views of yesterday up to this time.'),
        weekAgo: v.optional(
          told(
            views,
            'Views of the same weekday a week ago up to this time; absent where that day had none.',
          ),
        ),
      }),
      'Today so far; absent where today is not asked for, or nothing came on any of these days.',
    ),
  ),
  invalidLines: told(views, 'Lines skipped: not JSON, or no view.'),
  brokenFiles: told(
    views,
    'Packed files that broke off; of each, what could be read is counted. Of the span before too.',
  ),
  days: told(
    v.array(
      v.object({
        day,
        views,
        hours: told(v.array(views), '24 numbers: views by local hour.'),
        isPartial: v.optional(told(v.boolean(), 'true for today, which is not over yet.')),
      }),
    ),
    'Every day of the span, or from the first to the last that has views.',
  ),
  silentDays: told(
    v.array(
      v.object({
        project: v.string(),
        views: told(views, 'Its views on the other days of the span.'),
        days: told(views, 'How many days.'),
        spans: v.array(v.object({ fromDay: day, toDay: day })),
      }),
    ),
    'Whole days without views of a project, from its first view on; of a listed active project ' +
      'that has none at all, every day asked for.',
  ),
  projects: listOf(told(v.string(), 'The id.'), 'Views by project.'),
  pages: listOf(page, 'Views by page.'),
  entryPages: listOf(page, 'Views that came from elsewhere, by page.'),
  entryViews: told(views, 'All views that came from elsewhere.'),
  referrers: listOf(
    told(v.string(), 'A name or a host; (none), (not an address).'),
    'Views by the source they came from.',
  ),
  internalViews: told(views, "Views that came from the project's own pages."),
  campaigns: listOf(
    v.object({ campaign: v.string(), source: v.string(), medium: v.string() }),
    'Views by the utm_* parameters of their page.',
  ),
  campaignViews: told(views, 'All views with a campaign.'),
  languages: listOf(told(v.string(), 'A BCP 47 tag, or (none).'), 'Views by language.'),
  templates: listOf(told(v.string(), 'An id, or (none).'), 'Views by template.'),
  refused: told(
    v.object({
      ...listOf(v.object({ code: v.string(), project: v.string() }), '').pipe[0].entries,
      views,
    }),
    'Refused views that were kept, by reason and project.',
  ),
});

/** What a report shows, in each of its forms. */
export type Summary = v.InferOutput<typeof ReportSchema>;
