import { builtTexts } from '../base/built.ts';
import { raw } from 'hono/html';
import type { PropsWithChildren } from 'hono/jsx';
import type { HtmlEscapedString } from 'hono/utils/html';
import { formatCount, plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import type { Report } from './schema.ts';
import { type SectionRow, type Section, sectionsOf } from './sections.ts';
import {
  faultsOf,
  figuresOf,
  headline,
  lastWeekInWords,
  projectInWords,
  share,
  silenceInWords,
  spanInWords,
  spanOf,
} from './words.ts';

const DAYS_MAX = 200;
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

/** Returns the report as one self-contained page, without scripts and without anything to load. */
export function htmlReport(report: Report): string {
  const { project, projects, views } = report;
  const site = project ?? (projects.distinct === 1 ? projects.top[0]?.key : undefined);
  const of = site === undefined ? '' : ` of ${shown(projectInWords(report, site))}`;
  const title = `Page views${of}`;
  const silence = silenceInWords(report);
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="generator" content="viewlog" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content={POLICY} />
        <meta name="referrer" content="no-referrer" />
        <title>{title}</title>
        <style>{raw(builtTexts()['report.css'] ?? '')}</style>
      </head>
      <body>
        <main>
          <h1>{title}</h1>
          <p class="headline">{headline(report)}</p>
          <p>{lastWeekInWords(report)}</p>
          <p class="faint">{about(report)}</p>
          {views === 0 ? <p>The operator’s status page shows whether views arrive.</p> : ''}
          <dl class="figures">
            {figuresOf(report).map(([name, value, note]) => (
              <div>
                <dt>{name}</dt>
                <dd>
                  <b>{value}</b> {note}
                </dd>
              </div>
            ))}
          </dl>
          <div class="sections">
            {sectionsOf(report, DAYS_MAX).map(({ title, remark, total, isChart, rows }) => (
              <Titled title={title}>
                {remark && <p class="faint">{remark}</p>}
                {isChart && <BarChart rows={rows} />}
                {!isChart && rows.length > 0 && <Table rows={rows} total={total} />}
              </Titled>
            ))}
          </div>
          {silence.length > 0 && (
            <Titled title="Days without views">
              {silence.map(({ name, days }) => (
                <p>
                  <Text>{name}</Text>: {days}
                </p>
              ))}
            </Titled>
          )}
          <p class="faint">{faultsOf(report).join(' ')}</p>
        </main>
      </body>
    </html>
  ) as HtmlEscapedString;
  return `<!doctype html>\n${page}\n`;
}

function about(report: Report): string {
  const { before, madeAt, timeZone, version } = report;
  const span = spanOf(report);
  const dateTime = { timeZone, dateStyle: 'long', timeStyle: 'short' } as const;
  const made = new Intl.DateTimeFormat('en-GB', dateTime).format(new Date(madeAt));
  const compared = before === undefined ? '' : `, compared with ${spanInWords(before)}`;
  const days = span === undefined ? '' : `${spanInWords(span)}${compared}. `;
  return `${days}Created on ${made} by viewlog ${version}. Days and hours in ${timeZone}.`;
}

const Table = ({ rows, total }: Pick<Section, 'rows' | 'total'>) => (
  <table>
    <thead>
      <tr>
        <td></td>
        <th scope="col">Views</th>
        <th scope="col">Share</th>
        {rows[0]?.change !== undefined && <th scope="col">Change</th>}
      </tr>
    </thead>
    <tbody>
      {rows.map(({ texts, count, change }) => (
        <tr>
          <th scope="row" style={`--part: ${((100 * count) / total).toFixed(1)}%`}>
            {texts.map((text) => (
              <Text>{text}</Text>
            ))}
          </th>
          <td>{formatCount(count)}</td>
          <td>{share(count, total)}</td>
          {change !== undefined && <td>{change}</td>}
        </tr>
      ))}
    </tbody>
  </table>
);

const Titled = ({ title, children }: PropsWithChildren<{ readonly title: string }>) => (
  <section id={title.toLowerCase().replaceAll(' ', '-')}>
    <h2>{title}</h2>
    {children}
  </section>
);

/** A phone has space for this many labels under the chart; a wider page for twice as many. */
const TICKS_MAX = 7;

/** Renders bars that show their names on hovering; a screen reader reads a list of these names. */
function BarChart({ rows }: { readonly rows: readonly SectionRow[] }) {
  const top = Math.max(...rows.map(({ count }) => count), 1);
  const isShort = rows.length <= 2 * TICKS_MAX;
  const every = isShort ? 1 : Math.ceil(rows.length / TICKS_MAX);
  const partial = rows.find(({ texts }) => texts.length > 1);
  const bars = rows.map((row, i) => {
    const { texts, count } = row;
    const name = `${texts.join(' ')}: ${plural(count, 'view')}`;
    const isCounted = isShort || (count === 0 && row !== partial);
    return (
      <li
        title={name}
        class={row === partial ? 'partial' : ''}
        style={`--part: ${((100 * count) / top).toFixed(1)}%`}
      >
        <span class="hidden">{name}</span>
        <span class="count" aria-hidden="true">
          {isCounted ? formatCount(count) : ''}
        </span>
        <span class="tick" aria-hidden="true">
          {i % every === 0 ? twoLines(texts[0]!) : ''}
        </span>
      </li>
    );
  });
  return (
    <figure>
      <p class="scale" aria-hidden="true">
        <span>{formatCount(top)}</span>
        <span>0</span>
      </p>
      <ol class={isShort ? 'bars short' : 'bars'}>{bars}</ol>
      {partial && <figcaption>Striped bar: {partial.texts.join(' ')}</figcaption>}
    </figure>
  );
}

/** Allows a line break in `Mon 16 Nov` after the weekday only. */
const twoLines = (label: string): string => label.replace(/( \S+) /, '$1\u00a0');

/** Characters that join others into one: Persian words and some emoji need them. */
const WITHOUT_JOINERS = /[^\u200c\u200d]+/g;

/** Returns a text in which characters that reorder or hide text are escaped. */
const shown = (text: string): string =>
  text.replace(WITHOUT_JOINERS, (part) => printable(part, Infinity));

/** Shows untrusted text, which may run from right to left. A path runs from left to right. */
const Text = ({ children }: { readonly children: string }) => (
  <bdi dir={children.startsWith('/') ? 'ltr' : 'auto'}>{shown(children)}</bdi>
);
