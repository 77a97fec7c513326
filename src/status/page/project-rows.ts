import { formatCount } from '../../base/format.ts';
import type { ProjectState } from '../arrival.ts';
import type { ShownActivity } from '../shown-activity.ts';
import type { ShownProject } from '../shown-projects.ts';
import { chart, sparkline } from './chart.ts';
import { element, seen, setText, type View } from './dom.ts';
import { lastOf, stateWords } from '../status-words.ts';
import { rowIdOf } from '../trouble-words.ts';
import { refusalGroups } from './refusal-list.ts';

const COLUMNS = [
  '10 min',
  'last hour',
  'today',
  'yesterday by now',
  'yesterday',
  'refused, 24 h',
] as const;

/** What the numbers of the rows are. */
export const columnNames = (): HTMLElement =>
  element(
    'div',
    { class: 'columns', 'aria-hidden': 'true' },
    element('span', {}, 'name'),
    element('span', {}, 'id'),
    element('span', {}, '24 hours'),
    ...COLUMNS.map((name) => element('span', { class: 'number' }, name)),
    element('span', {}, 'state'),
  );

/** One project on a line: is my site arriving? Opened, its day and what was refused. */
export function projectRow(): View<ShownProject> {
  const { row, body, update } = activityRow();
  const refusals = refusalGroups();
  const where = element('p', { class: 'faint' });
  body.append(where, refusals.node);
  return openedAtOnce(row, (project, nowMs) => {
    const { id, name, active, activity } = project;
    update(name, id, activity, nowMs);
    row.id = rowIdOf(project);
    setState(row, project, nowMs);
    if (!row.open) return;
    const last = lastOf(activity, nowMs);
    setText(where, `Project ${id}. ${last}${active ? '' : ' It is inactive.'}`);
    refusals.update(project.refusals, nowMs);
  });
}

/** All projects together. */
export function totalRow(): View<ShownActivity> {
  const { row, update } = activityRow();
  row.classList.add('total');
  return openedAtOnce(row, (activity, nowMs) => update('All projects', '', activity, nowMs));
}

/** What is of no project that is listed, so that the rows add up. */
export function restRow(): View<ShownActivity> {
  const { row, body, update } = activityRow();
  row.classList.add('total', 'rest');
  const where = element('p', { class: 'faint' });
  where.append(
    'Views for ',
    element('a', { href: '#unlisted-ids' }, 'ids not in the projects file'),
  );
  where.append(', and what was ', element('a', { href: '#before-project' }, 'refused before'));
  where.append(' a project was known.');
  body.append(where);
  return openedAtOnce(row, (activity, nowMs) => {
    update('Not in the projects file', '', activity, nowMs);
  });
}

/** What is folded is not kept up to date; it is when it is opened. */
function openedAtOnce<T>(row: HTMLDetailsElement, update: View<T>['update']): View<T> {
  let again = (): void => {};
  row.addEventListener('toggle', () => again());
  return {
    node: row,
    update(item, nowMs) {
      again = () => update(item, nowMs);
      again();
    },
  };
}

function activityRow() {
  const name = element('bdi');
  const id = element('code');
  const spark = sparkline();
  const cells = COLUMNS.map((label) => {
    const value = element('b');
    const cell = element('span', { class: 'number' }, element('span', { class: 'label' }, label));
    cell.append(' ', value);
    return { cell, value };
  });
  const state = element('span', { class: 'state' });
  const title = element('span', { class: 'name' }, name);
  const summary = element('summary', {}, title, ' ', id, spark.node);
  for (const { cell } of cells) summary.append(' ', cell);
  summary.append(' ', state);
  const large = chart();
  const body = element('div', { class: 'opened' }, large.node);
  const row = element('details', { class: 'row' }, summary, body) as HTMLDetailsElement;
  const update = (text: string, projectId: string, shown: ShownActivity, nowMs: number): void => {
    setText(name, text);
    setText(id, projectId);
    title.title = seen(text);
    id.title = projectId;
    const { lastTenMinutes, lastHour, today, yesterdayByNow, yesterday, refused } = shown;
    const numbers = [lastTenMinutes, lastHour, today, yesterdayByNow, yesterday, refused];
    for (const [i, { value, cell }] of cells.entries()) {
      const count = numbers[i];
      setText(value, count === undefined ? '–' : formatCount(count));
      cell.classList.toggle('none', !count);
    }
    cells.at(-1)!.cell.classList.toggle('refusals', refused > 0);
    const series = { accepted: shown.acceptedByQuarter, refused: shown.refusedByQuarter };
    spark.update(series, nowMs);
    if (row.open) large.update(series, nowMs);
  };
  return { row, body, update };
}

const KINDS: Readonly<Record<ProjectState, string>> = {
  'all-refused': 'bad',
  'most-refused': 'bad',
  silent: 'warn',
  'some-refused': 'warn',
  'not-stored': 'bad',
  halted: 'halted',
  mended: 'good',
  arriving: 'good',
  quiet: 'off',
  'no-view': 'off',
  inactive: 'off',
};

function setState(row: Element, project: ShownProject, nowMs: number): void {
  const node = row.querySelector('.state')!;
  node.className = `state ${KINDS[project.state]}`;
  setText(node, stateWords(project, nowMs));
}
