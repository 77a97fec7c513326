import type { Snapshot } from '../snapshot.ts';
import { element, list, setText } from './dom.ts';
import { countOf, duration, number } from '../../base/readable.ts';
import { dateTime } from './clock.ts';
import { unlistedIdCard } from './unlisted-rows.ts';
import { acceptedRow, refusedRow } from './latest-views.ts';
import { overview } from './overview.ts';
import { projectCard } from './project-rows.ts';
import { refusalGroups } from './refusal-list.ts';

// The status page: shows each snapshot as it comes. Every one is whole, so a page that was hidden
// or cut off has caught up with the next.

const RECONNECT_MS = 3_000;

const find = (selector: string): HTMLElement => document.querySelector<HTMLElement>(selector)!;

const state = find('#state');
const summary = find('#summary');
const storage = overview();
find('#storage').append(storage.node);
const beforeProject = refusalGroups();
find('#before-project').append(element('article', {}, beforeProject.node));

const showWarnings = list<string>(find('#warnings'), (text) => text, textItem);
const showProjects = list(cards('#projects'), ({ id }) => id, projectCard);
const projectsMore = more('#projects');
const showUnlistedIds = list(cards('#unlisted-ids'), ({ id }) => id, unlistedIdCard);
const unlistedIdsMore = more('#unlisted-ids');
const numbered = (item: { readonly number: number }): string => String(item.number);
const showAccepted = list(rows('#latest > :first-child'), numbered, acceptedRow);
const showRefused = list(rows('#latest > :last-child'), numbered, refusedRow);

function show(snapshot: Snapshot): void {
  const { nowMs, unlistedIds, projects, projectsLeftOut, unlistedIdsLeftOut } = snapshot;
  showState(snapshot);
  storage.update(snapshot, nowMs);
  showProjects(projects, nowMs);
  setText(projectsMore, projectsLeftOut > 0 ? `${number(projectsLeftOut)} more are listed.` : '');
  find('#unlisted-ids').hidden = unlistedIds.length === 0;
  showUnlistedIds(unlistedIds, nowMs);
  setText(
    unlistedIdsMore,
    unlistedIdsLeftOut > 0 ? `${countOf(unlistedIdsLeftOut, 'more id')}.` : '',
  );
  find('#before-project').hidden = snapshot.beforeProject.length === 0;
  beforeProject.update(snapshot.beforeProject, nowMs);
  showAccepted(snapshot.latestAccepted, nowMs);
  showRefused(snapshot.latestRefused, nowMs);
}

function showState({ ready, reasons, warnings, total, sinceMs, nowMs }: Snapshot): void {
  const kind = ready ? (warnings.length > 0 ? 'warn' : 'good') : 'bad';
  setKind(kind);
  setText(state, ready ? 'Taking views' : `Not taking views: ${reasons.join(', ')}`);
  document.title = ready ? 'viewlog: taking views' : 'viewlog: not taking views';
  const last =
    total.lastAcceptedMs === undefined
      ? 'No view yet'
      : `Last view ${duration(nowMs - total.lastAcceptedMs)} ago`;
  const counts = `${number(total.accepted)} taken, ${number(total.refused)} refused`;
  setText(summary, `${last}. ${counts} since ${dateTime(sinceMs)}, when viewlog started.`);
  showWarnings(warnings, nowMs);
}

/** One of good, warn, bad and lost; the colours are the style sheet's. */
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

function textItem() {
  const node = element('li');
  return { node, update: (text: string) => setText(node, text) };
}

function cards(section: string): Element {
  const node = element('div', { class: 'cards' });
  find(section).append(node);
  return node;
}

function rows(column: string): Element {
  const node = element('ol', { class: 'rows' });
  find(column).append(node);
  return node;
}

function more(section: string): Element {
  const node = element('p', { class: 'hint' });
  find(section).append(node);
  return node;
}
