// The status page as HTML. `page/page.ts` fetches it again every two seconds and swaps it in place.
import { printable } from '../base/text.ts';
import type { ProjectRow as Row, StatusModel } from './model.ts';
import {
  reasonNotices,
  type Notice,
  noticesOf,
  strayNotices,
  unlistedNotices,
} from './problem-words.ts';
import { isWaiting } from './state.ts';
import * as words from './words.ts';

/** Finds the reasons in a headline. */
const REASONS = /( \([^()]*\))(?=; |$)/;

/** How many unlisted ids are shown with their reasons and fixes. */
const UNLISTED_SHOWN = 3;

interface Shown {
  readonly model: StatusModel;
  /** The ids of open rows. */
  readonly open: ReadonlySet<string>;
}

export function page({ model, open }: Shown): string {
  const { version } = model;
  const [kind, headline] = words.headlineOf(model);
  const html = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>viewlog: {headline}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="page.css" />
        <script type="module" src="page.js"></script>
      </head>
      <body data-kind={kind} data-version={version}>
        <header>
          <h1>
            <span role="status">
              {oddAs(headline.split(REASONS), (part) => (
                <span class="why">{part}</span>
              ))}
            </span>
          </h1>
          <Text of={words.summaryWords(model)} />
          <p class="lost">This page can't reach viewlog, so everything on it is out of date.</p>
        </header>
        <main>
          <NoticeList notices={noticesOf(model)} />
          <dl class="figures">
            {words.figures(model).map(([name, value, hint]) => (
              <div>
                <dt>{name}</dt>
                <dd>
                  <b>{value}</b> <span class="faint">{hint}</span>
                </dd>
              </div>
            ))}
          </dl>
          <Projects model={model} open={open} />
          <Unlisted model={model} open={open} />
          <section hidden={model.strayRequests === undefined}>
            <h2>Requests without a project</h2>
            <NoticeList notices={strayNotices(model)} />
          </section>
          <div class="two">{words.latest(model).map(Latest)}</div>
        </main>
        <footer class="faint">
          {words.fileWords(model)} viewlog {version}.
        </footer>
      </body>
    </html>
  );
  // oxlint-disable-next-line no-base-to-string -- it is the markup
  return `<!doctype html>\n${html.toString()}`;
}

/** Returns the parts, every other part as an element. */
const oddAs = <E,>(parts: readonly string[], element: (part: string) => E) =>
  parts.map((part, i) => (i % 2 === 1 ? element(part) : part));

const Text = ({ of }: { of: string }) => (
  <p>
    {oddAs(of.split(words.TIMES), (part) => (
      <Time at={part} />
    ))}
  </p>
);

/** Shows a time in UTC; the script then shows it in the reader's time zone. */
const Time = ({ at }: { at: string }) => (
  <time datetime={at.replace(' UTC', 'Z').replace(' ', 'T')}>{at}</time>
);

const NoticeList = ({ notices }: { notices: readonly Notice[] }) => (
  <ul class="notices">
    {notices.map(({ colour, title, steps }) => (
      <li class={colour}>
        <Text of={title} />
        {steps.map(({ text, command, quote, isNext }) => (
          <div class={isNext ? 'next' : undefined}>
            <Text of={text} />
            {command !== undefined && (
              <div class="command">
                <code tabindex={0}>{command.split(' ').flatMap(wordOf)}</code>
                <button type="button">Copy</button>
              </div>
            )}
            {quote && (
              <blockquote>
                {oddAs(quote, (part) => (
                  <mark>{part}</mark>
                ))}
              </blockquote>
            )}
          </div>
        ))}
      </li>
    ))}
  </ul>
);

/** Lets a command wrap between its words, but not after an option's first hyphen. */
const wordOf = (word: string, i: number) => [i === 0 ? '' : ' ', <span>{word}</span>];

/** Fewer projects need no filter. */
const FILTER_MIN = 10;

function Projects({ model, open }: Shown) {
  const { projects, projectsListed, filter } = model;
  return (
    <section hidden={projectsListed === 0}>
      <h2>Projects</h2>
      <input
        type="search"
        value={filter}
        placeholder="Filter"
        aria-label="Filter by name or id"
        autocomplete="off"
        hidden={projectsListed <= FILTER_MIN}
      />
      <div class="columns" aria-hidden="true">
        {['Name', 'Last 24 hours', ...words.COLUMNS, 'State'].map((name) => (
          <span>{name}</span>
        ))}
      </div>
      {projects.map((row) => (
        <ProjectRow row={row} model={model} open={open} />
      ))}
      <p class="faint">{words.leftOut(model)}</p>
    </section>
  );
}

function ProjectRow({ row, model, open }: Shown & { row: Row }) {
  const { id, name, state } = row;
  const isOpen = open.has(id);
  return (
    <details class="row" id={`project-${id}`} data-id={id} open={isOpen}>
      <summary>
        <span>
          <bdi title={printable(name)}>{printable(name)}</bdi> <small>{id}</small>
        </span>
        <Bars row={row} />
        {words.cells(row).map((cell, i) => (
          <span class="number">
            <span class="label">{words.COLUMNS[i]} </span>
            {cell}
          </span>
        ))}
        <span class={`state ${isWaiting(row) ? 'waiting' : state}`}>
          {words.stateWords(row, model.hasEarlierViews)}
        </span>
      </summary>
      {isOpen && (
        <div class="details">
          <Bars row={row} />
          <Text of={words.chartWords(row)} />
          <NoticeList notices={reasonNotices(row, model)} />
          <Latest {...words.latestOf(row, model)} />
        </div>
      )}
    </details>
  );
}

function Unlisted({ model, open }: Shown) {
  const notices = unlistedNotices(model);
  const more = notices.slice(UNLISTED_SHOWN);
  return (
    <section hidden={notices.length === 0}>
      <h2>Unlisted ids in the last 24 hours</h2>
      <NoticeList notices={notices.slice(0, UNLISTED_SHOWN)} />
      <details data-id="unlisted" open={open.has('unlisted')} hidden={more.length === 0}>
        <summary>
          {Math.max(0, model.unlistedInAll - UNLISTED_SHOWN)} more:{' '}
          {more.map(({ title }) => title).join(', ')}
          {model.unlistedInAll > notices.length ? ', …' : ''}
        </summary>
        <NoticeList notices={more} />
      </details>
    </section>
  );
}

/** Requests by the hour, refused ones above accepted ones. */
function Bars({ row: { hours, refusedHours } }: { row: Row }) {
  const most = Math.max(1, ...hours.map((count, i) => count + (refusedHours[i] ?? 0)));
  const bar = (i: number, from: number, count: number): string =>
    count === 0 ? '' : `M${10 * i} ${100 - (100 * from) / most}h8v${(-100 * count) / most}h-8z`;
  return (
    <svg viewBox="0 0 238 100" preserveAspectRatio="none" aria-hidden="true">
      <path d={hours.map((count, i) => bar(i, 0, count)).join('')} />
      <path class="bad" d={refusedHours.map((count, i) => bar(i, hours[i] ?? 0, count)).join('')} />
    </svg>
  );
}

const Latest = ({ title, none, events }: words.EventList) => (
  <section>
    <h2>{title}</h2>
    <ul class="latest">
      {events.length === 0 && <li class="faint">{none}</li>}
      {events.map(({ time, name, what }) => (
        <li>
          <Time at={time} /> <bdi>{printable(name)}</bdi> {printable(what)}
        </li>
      ))}
    </ul>
  </section>
);
