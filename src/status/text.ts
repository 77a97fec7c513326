import { plural } from '../base/format.ts';
import { columnOf, printable } from '../base/text.ts';
import type { Row, StatusModel } from './model.ts';
import { type Told, toldOf, unlistedTold } from './problem-words.ts';
import * as words from './words.ts';

const COLUMNS = ['last hour', 'today', 'by now', 'refused', 'id', 'state', 'name'];

/** What the status page says, for a terminal. Times are in UTC. */
export function statusText(model: StatusModel, place: words.Place, version: string): string {
  const { projects, projectsFound, unlisted, unlistedInAll } = model;
  const left = projectsFound - projects.length;
  const unlistedLeft = unlistedInAll - unlisted.length;
  const lines = [
    words.headlineWords(model),
    plain(words.summaryWords(model)),
    '',
    ...toldOf(model, place).flatMap((told) => linesOf(told).concat('')),
    ...words.figures(model).map(([name, value, hint]) => `${name}: ${value} (${hint})`),
    '',
    ...tableOf(projects),
    ...(left > 0 ? [`and ${plural(left, 'more project')}`] : []),
    '',
    unlisted.length === 0 ? 'No unlisted id sends views.' : 'Unlisted ids that send views:',
    ...unlistedTold(model, place).flatMap(linesOf),
    ...(unlistedLeft > 0 ? [`and ${plural(unlistedLeft, 'more id')}`] : []),
    '',
    `${words.fileWords(model)} viewlog ${version}.`.trimStart(),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const linesOf = ({ title, steps }: Told): string[] => [
  plain(title),
  ...steps.flatMap(({ words: of, command }) =>
    [`  ${plain(of)}`].concat(command === undefined ? [] : `    ${command}`),
  ),
];

const plain = (of: words.Words): string =>
  of.map((word) => (typeof word === 'string' ? word : words.utc(word))).join('');

function tableOf(rows: readonly Row[]): string[] {
  const table = [COLUMNS, ...rows.map(cellsOf)];
  const columns = COLUMNS.map((_, i) =>
    columnOf(
      table.map((row) => row[i] ?? ''),
      i < 4,
    ),
  );
  return table.map((_, i) =>
    columns
      .map((column) => column[i])
      .join('  ')
      .trimEnd(),
  );
}

function cellsOf(row: Row): string[] {
  const { lastHour, today, yesterdayByNow, refusedLastDay } = row.figures;
  const counts = [lastHour, today, yesterdayByNow, refusedLastDay].map(words.countOrDash);
  return [...counts, row.id, words.stateWords(row), printable(row.name, 60)];
}
