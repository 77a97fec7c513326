import { formatCount } from '../base/format.ts';
import { printable } from '../base/text.ts';
import type { StatusModel } from './model.ts';
import {
  type Notice,
  noticesOf,
  type Step,
  strayNotices,
  unlistedNotices,
} from './problem-words.ts';
import * as words from './words.ts';

/** Returns the status page's contents for a terminal. Times are in UTC. */
export function statusText(model: StatusModel): string {
  const lines = [
    words.headlineOf(model)[1],
    `${words.summaryWords(model)}\n`,
    ...noticesOf(model).map((notice) => `${noticeText(notice)}\n`),
    ...words.figures(model).map(([name, value, hint]) => `${name}: ${value} (${hint})`),
    `\n${tableLine(words.COLUMNS, 'State', 'Project')}`,
    ...model.projects.map((row) =>
      tableLine(
        words.cells(row),
        words.stateWords(row, model.hasEarlierViews),
        `${row.id}  ${printable(row.name, 60)}`,
      ),
    ),
    ...[words.leftOut(model)].filter(Boolean),
    ...unlistedTitle(model),
    ...unlistedNotices(model).map(noticeText),
    ...(model.strayRequests === undefined ? [] : [`\n${model.strayRequests.name}:`]),
    ...strayNotices(model).map(noticeText),
    ...words.latest(model).map(eventsOf),
    `\n${`${words.fileWords(model)} viewlog ${model.version}.`.trimStart()}\n`,
  ];
  return lines.join('\n');
}

function unlistedTitle({ unlisted: { length }, unlistedInAll }: StatusModel): string[] {
  if (length === 0) return [];
  const some = length < unlistedInAll ? ` (${length} of ${formatCount(unlistedInAll)})` : '';
  return [`\nUnlisted ids in the last 24 hours${some}:`];
}

/** Returns a notice as lines: its title, and below it each step, command and quote. */
export const noticeText = ({ title, steps }: Notice): string =>
  [title, ...steps.flatMap(stepLines)].join('\n');

function stepLines({ text, command, quote = [] }: Step): string[] {
  const [before = '', ...marked] = quote;
  const mark = marked.length === 0 ? undefined : `${' '.repeat(before.length)}^`;
  const below = [command, quote.join(''), mark].filter(Boolean);
  return [`  ${text}`, ...below.map((line) => `    ${line}`)];
}

const eventsOf = ({ title, events }: words.EventList): string =>
  events.reduce(
    (text, { time, name, what }) => `${text}\n${time}  ${printable(name)}  ${printable(what)}`,
    `\n${title}${events.length === 0 ? ': none since viewlog started' : ''}`,
  );

function tableLine(cells: readonly string[], state: string, project: string): string {
  const padded = cells.map((cell, i) => cell.padStart(words.COLUMNS[i]!.length + 3));
  return `${padded.join('')}   ${state.padEnd(27)}${project}`;
}
