// The status page as HTML. `page/page.ts` fetches it anew every two seconds and swaps it in place.
import { formatCount, formatRoundedSize, plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { HOUR_MS } from '../base/time.ts';
import type { Asked, ReasonFacts, Row, StatusModel } from './model.ts';
import { firstSteps, reasonSteps, type Told, toldOf, unlistedStep } from './problem-words.ts';
import { reportOf } from './shell-commands.ts';
import { isProblem } from './state.ts';
import * as words from './words.ts';

interface Shown {
  readonly model: StatusModel;
  readonly place: words.Place;
  readonly asked: Asked;
  /** The program's version, with its commit. */
  readonly version: string;
}

export function page({ model, place, asked, version }: Shown): string {
  const headline = words.headlineWords(model);
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
      <body data-kind={model.headline.kind} data-version={version}>
        <header>
          <h1>
            <span role="status">{headline}</span>
          </h1>
          <Text of={words.summaryWords(model)} />
          <p class="lost">No contact with viewlog. What is below is no longer up to date.</p>
        </header>
        <main>
          <ToldList told={toldOf(model, place)} />
          <Figures model={model} />
          <FirstSteps steps={firstSteps(model, place)} />
          <Projects model={model} place={place} filter={asked.filter} />
          <Unlisted model={model} place={place} />
          <Latest model={model} />
        </main>
        <Footer model={model} place={place} version={version} />
      </body>
    </html>
  );
  // oxlint-disable-next-line no-base-to-string -- it is the markup
  return `<!doctype html>\n${html.toString()}`;
}

const Text = ({ of }: { of: words.Words }) => (
  <p>{of.map((word) => (word instanceof Date ? <Time at={word.getTime()} /> : word))}</p>
);

/** In UTC, until the script shows it in the reader's time zone. */
const Time = ({ at }: { at: number }) => {
  const iso = new Date(at).toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}</time>;
};

const ToldList = ({ told }: { told: readonly Told[] }) => (
  <ul class="told">
    {told.map(({ kind, title, steps }) => (
      <li class={kind}>
        <Text of={title} />
        <Steps steps={steps} />
      </li>
    ))}
  </ul>
);

const Steps = ({ steps }: { steps: readonly words.Step[] }) => (
  <>
    {steps.map(({ words: of, command }) => (
      <div class="step">
        <Text of={of} />
        {command !== undefined && <Command text={command} />}
      </div>
    ))}
  </>
);

const Command = ({ text }: { text: string }) => (
  <div class="command">
    <code tabindex={0}>{text}</code>
    <button type="button">Copy</button>
  </div>
);

const Figures = ({ model }: { model: StatusModel }) => (
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
);

const FirstSteps = ({ steps }: { steps: readonly words.Step[] }) =>
  steps.length === 0 ? null : (
    <section>
      <h2>To get the first view</h2>
      <Steps steps={steps} />
    </section>
  );

const COLUMNS = ['Last hour', 'Today', 'By now yesterday', 'Refused, 24 h'];
/** Fewer projects are found at a glance. */
const FILTER_MIN = 10;

function Projects({ model, place, filter }: Omit<Shown, 'asked' | 'version'> & { filter: string }) {
  const { projects, projectsListed, projectsFound, nowMs } = model;
  const left = projectsFound - projects.length;
  return (
    <section hidden={projectsListed === 0}>
      <form role="search">
        <h2>Projects</h2>
        <input
          type="search"
          name="filter"
          value={filter}
          placeholder="Filter"
          aria-label="Filter by name or id"
          autocomplete="off"
          hidden={projectsListed <= FILTER_MIN}
        />
      </form>
      <div class="columns" aria-hidden="true">
        {['Name', 'Last 24 hours', ...COLUMNS, 'State'].map((name) => (
          <span>{name}</span>
        ))}
      </div>
      {projects.map((row) => (
        <ProjectRow row={row} nowMs={nowMs} place={place} />
      ))}
      {projectsFound === 0 && <p class="faint">No project matches the filter.</p>}
      {left > 0 && <p class="faint">{plural(left, 'more project')}: filter by name or id.</p>}
    </section>
  );
}

function ProjectRow({ row, nowMs, place }: { row: Row; nowMs: number; place: words.Place }) {
  const { id, name, state, figures: f, hours, refusedHours, latest } = row;
  return (
    <details class="row" id={`project-${id}`} data-id={id} open={latest !== undefined}>
      <summary>
        <span>
          <bdi>{printable(name)}</bdi> <small>{id}</small>
        </span>
        <Bars hours={hours} refused={refusedHours} />
        {[f.lastHour, f.today, f.yesterdayByNow, f.refusedLastDay].map((count, i) => (
          <span class="number">
            <span class="label">{COLUMNS[i]} </span>
            {words.countOrDash(count)}
          </span>
        ))}
        <span class={`state ${state}`}>{words.stateWords(row)}</span>
      </summary>
      {latest !== undefined && (
        <div class="details">
          <Chart row={row} nowMs={nowMs} />
          {row.reasons.map((reason) => (
            <Reason reason={reason} row={row} place={place} />
          ))}
          <Views views={latest} />
        </div>
      )}
    </details>
  );
}

/** Requests by the hour, refused ones above accepted ones. */
function Bars({ hours, refused }: { hours: readonly number[]; refused: readonly number[] }) {
  const most = Math.max(1, ...hours.map((count, i) => count + (refused[i] ?? 0)));
  const bar = (i: number, from: number, count: number): string =>
    count === 0 ? '' : `M${10 * i} ${100 - (100 * from) / most}h8v${(-100 * count) / most}h-8z`;
  return (
    <svg viewBox="0 0 238 100" preserveAspectRatio="none" aria-hidden="true">
      <path d={hours.map((count, i) => bar(i, 0, count)).join('')} />
      <path class="bad" d={refused.map((count, i) => bar(i, hours[i] ?? 0, count)).join('')} />
    </svg>
  );
}

function Chart({ row: { hours, refusedHours, figures: f }, nowMs }: { row: Row; nowMs: number }) {
  const most = Math.max(...hours.map((count, i) => count + (refusedHours[i] ?? 0)));
  const yesterday = f.yesterday === undefined ? '' : `, yesterday ${formatCount(f.yesterday)}`;
  return (
    <figure>
      <Bars hours={hours} refused={refusedHours} />
      <figcaption>
        <Time at={Math.ceil((nowMs + 1) / HOUR_MS) * HOUR_MS - 24 * HOUR_MS} />
        <span>
          Today {plural(f.today, 'view')}
          {yesterday}; at most {plural(most, 'request')} an hour.
        </span>
        <Time at={nowMs} />
      </figcaption>
    </figure>
  );
}

function Reason({ reason, row, place }: { reason: ReasonFacts; row: Row; place: words.Place }) {
  const { sample, lastDay, lastHour, lastMs, isFixed } = reason;
  const when = words.say`${lastHour} in the last hour, the latest ${words.at(lastMs)}${isFixed ? '; fixed since' : ''}. ${printable(sample.detail, 500)}`;
  // A problem's steps are above the table.
  const steps = isFixed || isProblem(row.state) ? [] : reasonSteps(reason, row, place);
  return (
    <>
      <h3>
        {formatCount(lastDay)} refused: {words.REASONS[sample.code]}
      </h3>
      <Text of={when} />
      <Steps steps={steps} />
      {sample.text !== undefined && <pre tabindex={0}>{printable(sample.text, 1000)}</pre>}
    </>
  );
}

const Views = ({ views }: { views: StatusModel['latestAccepted'] }) => (
  <ul class="latest">
    {views.length === 0 && <li class="faint">None since the start.</li>}
    {views.map(({ atMs, name, url }) => (
      <li>
        <Time at={atMs} /> <bdi>{printable(name)}</bdi> <code>{printable(url)}</code>
      </li>
    ))}
  </ul>
);

function Unlisted({ model, place }: Pick<Shown, 'model' | 'place'>) {
  const { unlisted, unlistedLeftOut } = model;
  const told = unlisted.map((one): Told => {
    const title = words.say`${words.unlistedWords(one)}, the latest ${words.at(one.lastMs)}`;
    return { title, steps: [unlistedStep(one, model, place)] };
  });
  return (
    <section hidden={unlisted.length === 0}>
      <h2>Unlisted ids that send views</h2>
      <ToldList told={told} />
      {unlistedLeftOut > 0 && <p class="faint">{plural(unlistedLeftOut, 'more id')}.</p>}
    </section>
  );
}

const LATEST_SHOWN = 10;

const Latest = ({ model: { latestAccepted, latestRefused } }: { model: StatusModel }) => (
  <div class="two">
    <section>
      <h2>Last views</h2>
      <Views views={latestAccepted.slice(0, LATEST_SHOWN)} />
    </section>
    <section>
      <h2>Last refusals</h2>
      <ul class="latest">
        {latestRefused.length === 0 && <li class="faint">None since the start.</li>}
        {latestRefused.slice(0, LATEST_SHOWN).map(({ atMs, name, project, code, origin }) => (
          <li>
            <Time at={atMs} /> <bdi>{printable(name ?? project ?? '')}</bdi> {words.REASONS[code]}{' '}
            <span class="faint">{printable(origin ?? '', 80)}</span>
          </li>
        ))}
      </ul>
    </section>
  </div>
);

function Footer({ model, place, version }: Omit<Shown, 'asked'>) {
  const { disk, stored, queue, refusedKept, firstSteps } = model;
  const report = firstSteps === undefined ? reportOf(place) : undefined;
  const file = disk?.path;
  const size = formatRoundedSize(disk?.fileBytes ?? 0);
  return (
    <footer>
      {report !== undefined && (
        <Steps steps={[{ words: ["A report for a site's owner:"], command: report }]} />
      )}
      <p class="faint">
        {file === undefined ? '' : `Writing ${file.slice(file.lastIndexOf('/') + 1)}, ${size}. `}
        Since the start, {plural(stored, 'view')} stored and {plural(refusedKept, 'refused view')}{' '}
        kept; {formatRoundedSize(queue.bytes)} of {formatRoundedSize(queue.bytesMax)} in flight.
        viewlog {version}.
      </p>
    </footer>
  );
}
