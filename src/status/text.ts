import { plural } from '../base/format.ts';
import { clip, printable } from '../base/text.ts';
import type { Row, StatusModel } from './model.ts';
import { firstSteps, toldOf, unlistedStep } from './problem-words.ts';
import {
  countOrDash,
  figures,
  headlineWords,
  type Place,
  stateWords,
  type Step,
  summaryWords,
  unlistedWords,
  type Words,
} from './words.ts';

const COLUMNS = ['state', 'last hour', 'today', 'by now', 'refused', 'id', 'name'];

/** What the status page says, for a terminal. Times are in the server's time zone. */
export function statusText(model: StatusModel, place: Place, version: string): string {
  const { nowMs, projects, projectsFound, unlisted, unlistedLeftOut } = model;
  const lines: string[] = [];
  const plain = (words: Words): string => plainWords(words, nowMs);
  const addStep = ({ words, command }: Step): void => {
    lines.push(`  ${plain(words)}`);
    if (command !== undefined) lines.push(`    ${command}`);
  };
  lines.push(headlineWords(model), plain(summaryWords(model)), '');
  for (const { title, steps } of toldOf(model, place)) {
    lines.push(plain(title));
    steps.forEach(addStep);
    lines.push('');
  }
  firstSteps(model, place).forEach(addStep);
  lines.push(...figures(model).map(([name, value, hint]) => `${name}: ${value} (${hint})`));
  lines.push('', rowOf(COLUMNS), ...projects.map((row) => rowOf(cellsOf(row))));
  const left = projectsFound - projects.length;
  if (left > 0) lines.push(`and ${plural(left, 'more project')}`);
  const isNone = unlisted.length === 0;
  lines.push('', isNone ? 'No unlisted id sends views.' : 'Unlisted ids that send views:');
  for (const one of unlisted) {
    lines.push(unlistedWords(one));
    addStep(unlistedStep(one, model, place));
  }
  if (unlistedLeftOut > 0) lines.push(`and ${plural(unlistedLeftOut, 'more id')}`);
  lines.push('', `viewlog ${version}. Times are in ${zone(nowMs)}.`);
  return lines.map((line) => `${line}\n`).join('');
}

function plainWords(words: Words, nowMs: number): string {
  const now = new Date(nowMs).toDateString();
  return words
    .map((word) => {
      if (typeof word === 'string') return word;
      const clock = word.toLocaleTimeString('en-GB').slice(0, 5);
      if (word.toDateString() === now) return clock;
      return `${word.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${clock}`;
    })
    .join('');
}

/** `UTC+1` */
function zone(atMs: number): string {
  const minutes = -new Date(atMs).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${rest}`}`;
}

function cellsOf(row: Row): string[] {
  const { lastHour, today, yesterdayByNow, refusedLastDay } = row.figures;
  const counts = [lastHour, today, yesterdayByNow, refusedLastDay].map(countOrDash);
  return [stateWords(row), ...counts, row.id, clip(printable(row.name), 60)];
}

const rowOf = ([state = '', ...cells]: readonly string[]): string => {
  const [name = '', id = '', ...counts] = cells.toReversed();
  const numbers = counts.toReversed().map((text) => text.padStart(10));
  return `${state.padEnd(16)}${numbers.join('')}  ${id.padEnd(20)}  ${name}`;
};
