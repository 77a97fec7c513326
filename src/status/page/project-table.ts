import { plural } from '../../base/format.ts';
import type { Snapshot } from '../snapshot.ts';
import type { ShownActivity } from '../shown-activity.ts';
import type { ShownProject } from '../shown-projects.ts';
import { element, list, setText } from './dom.ts';
import { columnNames, projectRow, restRow, totalRow } from './project-rows.ts';

/** More are too many to look through. */
const UNFILTERED_MAX = 10;

/** All projects, a line each, and a filter where there are many. */
export function projectTable(section: HTMLElement) {
  const filter = section.querySelector('input')!;
  const total = totalRow();
  const others = element('div', { class: 'table' });
  const showRest = list<ShownActivity>(others, () => '', restRow);
  const rows = element('div', { class: 'table' });
  const showRows = list<ShownProject>(rows, ({ id }) => id, projectRow);
  const more = element('p', { class: 'hint' });
  section.append(element('div', { class: 'table' }, columnNames(), total.node), rows);
  section.append(others, more);
  let shown: Snapshot | undefined;

  const draw = ({ projects, projectsLeftOut, total: all, rest, nowMs }: Snapshot): void => {
    const count = projects.length + projectsLeftOut;
    const rests = hasViews(rest) ? [rest] : [];
    showRest(rests, nowMs);
    section.hidden = count === 0;
    filter.hidden = count <= UNFILTERED_MAX;
    total.node.toggleAttribute('hidden', count + rests.length < 2);
    total.update(all, nowMs);
    const wanted = filter.hidden ? '' : filter.value.trim().toLowerCase();
    const found = projects.filter(
      ({ name, id }) => id.includes(wanted) || name.toLowerCase().includes(wanted),
    );
    showRows(found, nowMs);
    const none = found.length === 0 ? 'No name or id has that in it. ' : '';
    const left = projectsLeftOut === 0 ? '' : `${plural(projectsLeftOut, 'more project')} listed.`;
    setText(more, none + left);
  };
  filter.addEventListener('input', () => shown && draw(shown));
  return {
    update(snapshot: Snapshot): void {
      shown = snapshot;
      draw(snapshot);
    },
    showAll(): void {
      filter.value = '';
      if (shown !== undefined) draw(shown);
    },
  };
}

const hasViews = ({ lastHour, today, yesterday = 0, refused }: ShownActivity): boolean =>
  lastHour + today + yesterday + refused > 0;
