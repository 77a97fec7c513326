import { formatCount } from '../base/format.ts';
import { clip, printable } from '../base/text.ts';
import { zone } from './clock.ts';
import { NAME_LENGTH_MAX, type Words } from './headline.ts';
import type { ShownProject } from './shown-projects.ts';
import type { ShownUnlistedId, Snapshot } from './snapshot.ts';
import {
  figuresOf,
  IF_ANOTHER,
  IF_YOURS,
  noneUnlistedWords,
  outageWords,
  slipWords,
  stateWords,
  summaryOf,
  unlistedFacts,
  unlistedWords,
} from './status-words.ts';
import { type Trouble, troublesOf } from './trouble-words.ts';

const COLUMNS = ['state', 'last hour', 'today', 'by now', 'refused', 'id', 'name'];

/** What the status page says, for a terminal without a browser. Times are the server's. */
export function statusText(snapshot: Snapshot): string {
  const {
    headline,
    outage,
    warnings,
    projects,
    projectsLeftOut: left,
    unlistedIds,
    nowMs,
  } = snapshot;
  const lines = [
    plainOf(headline.words),
    plainOf(summaryOf(snapshot)),
    ...(unlistedIds.length === 0 ? [] : [unlistedLine(snapshot)]),
    ...(outage === undefined ? [] : ['', ...outageWords(outage, nowMs), ...typed(outage.command)]),
    ...troublesOf(snapshot).told.flatMap(troubleOf),
    ...warnings.map((warning) => `warning: ${warning}`),
    '',
    ...figuresOf(snapshot).map(([name, text]) => `${name}: ${text}`),
    '',
    rowOf(COLUMNS),
    ...projects.map((project) => rowOf(cellsOf(project, nowMs))),
    ...(left > 0 ? [`and ${formatCount(left)} more`] : []),
    ...unlistedIds.flatMap((unlisted) => unlistedOf(unlisted, nowMs)),
    ...(unlistedIds.length === 0 ? ['', noneUnlistedWords(snapshot)] : []),
    '',
    `Times are in ${zone(nowMs)}.`,
  ];
  return lines.map((line) => `${printable(line, Infinity).trimEnd()}\n`).join('');
}

/** As text alone. */
export const plainOf = (words: Words): string =>
  words.map((word) => (typeof word === 'string' ? word : word.name)).join('');

const typed = (command: string | undefined): string[] =>
  command === undefined ? [] : [`  $ ${command}`];

const troubleOf = ({ who, extent, reasons, each }: Trouble): string[] => [
  '',
  `${plainOf(who)}: ${plainOf(extent)}`,
  ...reasons.flatMap(({ words, command }) => [`  ${plainOf(words)}`].concat(typed(command))),
  ...(each.length === 0 ? [] : [`  ${plainOf(each)}`]),
];

function unlistedLine(snapshot: Snapshot): string {
  const { many, ids } = unlistedWords(snapshot);
  return many + plainOf(ids);
}

function cellsOf(project: ShownProject, nowMs: number): string[] {
  const { lastHour, today, yesterdayByNow, refused } = project.activity;
  const counts = [lastHour, today, yesterdayByNow, refused];
  const numbers = counts.map((count) => (count === undefined ? '-' : formatCount(count)));
  return [stateWords(project, nowMs), ...numbers, project.id, clip(project.name, NAME_LENGTH_MAX)];
}

/** Words begin where their column does, numbers end there. */
const rowOf = ([state = '', ...cells]: readonly string[]): string =>
  [state.padEnd(16), ...cells.map((cell, i) => (i < 4 ? cell.padStart(9) : cell.padEnd(10)))].join(
    ' ',
  );

const unlistedOf = (unlisted: ShownUnlistedId, nowMs: number): string[] => [
  '',
  `${unlisted.id} is not in the projects file: ${unlistedFacts(unlisted, nowMs)}.`,
  unlisted.nearest ? `  ${plainOf(slipWords(unlisted))} ${IF_ANOTHER}` : `  ${IF_YOURS}`,
  ...typed(unlisted.command),
];
