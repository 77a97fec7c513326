import { countOf, number } from '../../base/readable.ts';
import type { ShownActivity, ShownOrigin, ShownProject, ShownRefusals } from '../shown-projects.ts';
import { isRed } from '../arrival.ts';
import { QUARTERS } from '../timeline.ts';
import { startOf } from './chart.ts';
import { since } from './clock.ts';
import { command } from './copy-command.ts';
import { element, setText, type View } from './dom.ts';
import { lastOf } from './project-rows.ts';
import { sentenceOf } from './refusal-list.ts';

/** A project in trouble: since when, why, and what mends it. */
export function trouble(): View<ShownProject> {
  const name = element('bdi');
  const [before, example, after] = [element('span'), element('bdi'), element('span')];
  const words = [before, example, after];
  const mend = command();
  const node = element(
    'li',
    {},
    element('p', {}, element('b', {}, name), ': ', ...words),
    mend.node,
  );
  return {
    node,
    update(project, nowMs) {
      node.classList.toggle('bad', isRed(project.state));
      setText(name, project.name);
      for (const [i, text] of wordsOf(project, nowMs).entries()) setText(words[i]!, text);
      mend.update(commandOf(project), nowMs);
    },
  };
}

/** What a stranger has sent stands between our own words. */
function wordsOf(project: ShownProject, nowMs: number): [string, string, string] {
  const { state, activity, look } = project;
  const last = lastOf(activity, nowMs);
  if (state === 'silent') {
    return [`it had views in the same hours yesterday. ${last} ${look?.text ?? ''}`, '', ''];
  }
  const { lastHour, refusedLastHour } = activity;
  const isAll = state === 'all-refused';
  const all = countOf(lastHour + refusedLastHour, 'view');
  const many = isAll ? `all ${all}` : `${number(refusedLastHour)} of ${all}`;
  const [why, example] = reasonOf(causeIn(project));
  const from = refusedSince(activity, nowMs) + (isAll ? ` ${last}` : '');
  const mend = project.cause === 'invalid-view' ? ' Mend it in the page that sends it.' : '';
  return [`${many} of the last hour refused${why}`, example, `. ${from}${mend}`];
}

/** An hour without a refusal is an end of them. */
const GAP_QUARTERS = 4;

/** `Refusals since about 14:15.` */
function refusedSince({ refusedByQuarter }: ShownActivity, nowMs: number): string {
  const newestFirst = refusedByQuarter.toReversed();
  let ago = 0;
  let gap = 0;
  for (const [i, count] of newestFirst.entries()) {
    gap = count > 0 ? 0 : gap + 1;
    if (gap >= GAP_QUARTERS) break;
    if (count > 0) ago = i;
  }
  const isWholeDay = ago >= QUARTERS - GAP_QUARTERS;
  if (isWholeDay) return 'Refusals for 24 hours, or longer.';
  return `Refusals since about ${since(startOf(nowMs, QUARTERS - 1 - ago), nowMs)}.`;
}

const causeIn = ({ refusals, cause }: ShownProject): ShownRefusals | undefined =>
  refusals.find(({ code }) => code === cause);

/** `, such as: `, `mb must be an integer; received "12"` */
function reasonOf(cause: ShownRefusals | undefined): [string, string] {
  const [issue] = cause?.latest?.issues ?? [];
  if (issue !== undefined) return [', such as: ', sentenceOf(issue)];
  const [most] = byCount(cause);
  if (cause?.code !== 'origin-not-allowed' || most === undefined) return ['', ''];
  if (most.origin === '') return [', sent without an Origin', ''];
  if (cause.origins.length === 1) return [', sent from ', most.origin];
  return [`, ${2 * most.count > cause.count ? 'most' : 'some'} of them from `, most.origin];
}

const commandOf = (project: ShownProject): string | undefined => {
  if (project.look !== undefined) return project.look.command;
  const cause = causeIn(project);
  return cause?.command ?? byCount(cause).find(({ command }) => command !== undefined)?.command;
};

const byCount = (cause: ShownRefusals | undefined): readonly ShownOrigin[] =>
  cause?.origins.toSorted((a, b) => b.count - a.count) ?? [];
