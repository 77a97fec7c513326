import { countOf, number } from '../../base/readable.ts';
import type { ShownOrigin, ShownProject, ShownRefusals } from '../shown-projects.ts';
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
      node.classList.toggle('bad', project.state === 'all-refused');
      setText(name, project.name);
      for (const [i, text] of wordsOf(project, nowMs).entries()) setText(words[i]!, text);
      mend.update(commandOf(project), nowMs);
    },
  };
}

/** What a stranger has sent stands between our own words. */
function wordsOf(project: ShownProject, nowMs: number): [string, string, string] {
  const { state, activity } = project;
  const last = lastOf(activity, nowMs);
  if (state === 'silent') {
    const look = 'Look whether its pages still bear the script.';
    return [`it had views at this time yesterday. ${last} ${look}`, '', ''];
  }
  const { lastHour, refusedLastHour } = activity;
  const isAll = state === 'all-refused';
  const all = countOf(lastHour + refusedLastHour, 'view');
  const many = isAll ? `all ${all}` : `${number(refusedLastHour)} of ${all}`;
  const [why, example] = reasonOf(causeIn(project));
  return [`${many} of the last hour refused${why}`, example, `. ${isAll ? last : ''}`];
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
  const cause = causeIn(project);
  return cause?.command ?? byCount(cause).find(({ command }) => command !== undefined)?.command;
};

const byCount = (cause: ShownRefusals | undefined): readonly ShownOrigin[] =>
  cause?.origins.toSorted((a, b) => b.count - a.count) ?? [];
