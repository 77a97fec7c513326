import { formatCount, plural } from '../../base/format.ts';
import type { Snapshot, Step } from '../snapshot.ts';
import { dateTime, shortTime, zone } from '../clock.ts';
import { command } from './copy-command.ts';
import { element, list, setText, setWords, type View } from './dom.ts';
import { factList } from './facts.ts';
import { outage } from './outage.ts';
import { acceptedRow, refusedRow } from './latest-views.ts';
import { projectTable } from './project-table.ts';
import { refusalGroups } from './refusal-list.ts';
import { figuresOf, summaryOf } from '../status-words.ts';
import { troubleList } from './troubles.ts';
import { unaskedLine, unlistedIdRow } from './unlisted-rows.ts';

// The status page: shows each snapshot as it comes. Every one is whole, so a page that was hidden
// or cut off has caught up with the next.

const RECONNECT_MS = 3_000;
const LATEST_MAX = 10;

const find = (selector: string): HTMLElement => document.querySelector<HTMLElement>(selector)!;

const state = find('#state');
const summary = find('#summary');
const notStored = outage();
find('#outage').append(notStored.node);
const showTroubles = troubleList(find('#troubles'), find('#troubles + p'));
const showWarnings = list<string>(find('#warnings'), (text) => text, textItem);
const showFigures = factList(find('#figures'));
const showDetails = factList(find('#details dl'));
const showSteps = list<Step>(find('#first-steps ol'), ({ text }) => text, step);
const projects = projectTable(find('#projects'));
const unasked = unaskedLine();
find('#unasked').append(unasked.node);
const showUnlistedIds = list(add('#unlisted-ids', 'ul'), ({ id }) => id, unlistedIdRow);
const unlistedIdsMore = add('#unlisted-ids', 'p');
const beforeProject = refusalGroups();
find('#before-project').append(beforeProject.node);
const report = command();
find('#report').append(report.node);
const numbered = (item: { readonly number: number }): string => String(item.number);
const showAccepted = list(add('#latest > :first-child', 'ol'), numbered, acceptedRow);
const showRefused = list(add('#latest > :last-child', 'ol'), numbered, refusedRow);

function show(snapshot: Snapshot): void {
  const { nowMs, unlistedIds, unlistedIdsLeftOut: more } = snapshot;
  showState(snapshot);
  notStored.update(snapshot.outage, nowMs);
  showTroubles(snapshot);
  showWarnings(snapshot.warnings, nowMs);
  showFigures(figuresOf(snapshot), nowMs);
  find('#first-steps').hidden = snapshot.firstSteps.length === 0;
  showSteps(snapshot.firstSteps, nowMs);
  projects.update(snapshot);
  find('#unlisted-ids').hidden = unlistedIds.length === 0;
  unasked.update(snapshot, nowMs);
  showUnlistedIds(unlistedIds, nowMs);
  setText(unlistedIdsMore, more > 0 ? `${plural(more, 'more id')}.` : '');
  find('#before-project').hidden = snapshot.beforeProject.length === 0;
  beforeProject.update(snapshot.beforeProject, nowMs);
  find('#report').hidden = snapshot.report === undefined;
  report.update(snapshot.report, nowMs);
  showAccepted(snapshot.latestAccepted.slice(0, LATEST_MAX), nowMs);
  showRefused(snapshot.latestRefused.slice(0, LATEST_MAX), nowMs);
  showDetails(detailsOf(snapshot), nowMs);
}

function showState(snapshot: Snapshot): void {
  const { headline, known, nowMs } = snapshot;
  setKind(headline.kind);
  setWords(state, headline.words);
  document.title = `viewlog: ${state.textContent}`;
  setWords(summary, summaryOf(snapshot));
  setText(find('#zone'), zoneWords(known, nowMs));
}

/** Days are the collector's, times the reader's. */
function zoneWords({ wholeMs }: Snapshot['known'], nowMs: number): string {
  const midnight = shortTime(wholeMs);
  const days = midnight === '00:00' ? '' : `; days begin at ${midnight}, midnight of the server`;
  return `Times are in ${zone(nowMs)}, your browser’s${days}.`;
}

const detailsOf = ({ details, accepted, refused, sinceMs, version }: Snapshot) => [
  ...details,
  [
    'Since the start',
    `${formatCount(accepted)} taken, ${formatCount(refused)} refused since ${dateTime(sinceMs)}`,
  ] as const,
  ['Version', version] as const,
];

/** One of good, warn, bad, idle and lost; the colours are the style sheet's. */
function setKind(kind: string): void {
  if (document.body.dataset['kind'] !== kind) document.body.dataset['kind'] = kind;
}

let stream: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;

function connect(): void {
  disconnect();
  if (document.hidden) return;
  stream = new EventSource('live');
  stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
    show(JSON.parse(data) as Snapshot);
  });
  stream.addEventListener('renew', connect);
  stream.addEventListener('error', () => {
    setKind('lost');
    setText(state, 'No contact with viewlog');
    setText(summary, 'What is below was so when it was last heard of. Trying again …');
    document.title = 'viewlog: no contact';
    // A refusal ends the stream for good, a lost connection does not.
    if (stream?.readyState === EventSource.CLOSED) retry = setTimeout(connect, RECONNECT_MS);
  });
}

function disconnect(): void {
  clearTimeout(retry);
  stream?.close();
}

// A hidden tab costs the collector nothing.
document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : connect()));
connect();

// A link to a project's row opens it, whatever the filter.
addEventListener('hashchange', () => {
  const linked = (): Element | null => document.getElementById(location.hash.slice(1));
  if (linked() === null) projects.showAll();
  const row = linked();
  if (!row?.matches('details.row')) return;
  row.toggleAttribute('open', true);
  row.scrollIntoView();
});

function textItem(): View<string> {
  const node = element('li');
  return { node, update: (text: string) => setText(node, text) };
}

function step(): View<Step> {
  const text = element('p');
  const mend = command();
  return {
    node: element('li', {}, text, mend.node),
    update(item, nowMs) {
      setText(text, `${item.text}:`);
      mend.update(item.command, nowMs);
    },
  };
}

function add(parent: string, name: string): Element {
  const node = element(name, { class: name === 'p' ? 'hint' : 'rows' });
  find(parent).append(node);
  return node;
}
