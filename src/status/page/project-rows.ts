import { MINUTE_MS } from '../../base/time.ts';
import type { ShownProject } from '../snapshot.ts';
import { chart } from './chart.ts';
import { command } from './copy-command.ts';
import { element, setText, type View } from './dom.ts';
import { countOf, duration, number } from '../../base/readable.ts';
import { refusalGroups } from './refusal-list.ts';

/** Five minutes without a view are called quiet. */
const QUIET_MS = 5 * MINUTE_MS;

/** One project: is my site arriving? */
export function projectCard(): View<ShownProject> {
  const name = element('h3');
  const id = element('code');
  const badge = element('span', { class: 'badge' });
  const facts = element('p', { class: 'facts' });
  const views = chart();
  const activation = command();
  const summary = element('summary');
  const refusals = refusalGroups();
  const unfolding = element('details', { class: 'refused' }, summary, refusals.node);
  const head = element('header', {}, name, id, badge);
  const card = element('article', {}, head, views.node, facts, activation.node, unfolding);
  return {
    node: card,
    update(project, nowMs) {
      const { accepted, refused, acceptedByMinute, refusedByMinute, lastAcceptedMs } =
        project.activity;
      const [kind, text] = verdictOf(project, nowMs);
      setText(name, project.name ?? `Project ${project.id}`);
      setText(id, project.id);
      setText(badge, text);
      badge.className = `badge ${kind}`;
      views.update({ accepted: acceptedByMinute, refused: refusedByMinute }, nowMs);
      const last =
        lastAcceptedMs === undefined ? '' : `, last ${duration(nowMs - lastAcceptedMs)} ago`;
      setText(facts, `${countOf(accepted, 'view')}${last}`);
      activation.node.toggleAttribute('hidden', project.command === undefined);
      activation.update(project.command ?? '', nowMs);
      unfolding.hidden = refused === 0;
      setText(summary, `${number(refused)} refused`);
      refusals.update(project.refusals, nowMs);
    },
  };
}

/** The answer in two words, and its colour. */
function verdictOf({ active, activity, refusals }: ShownProject, nowMs: number): [string, string] {
  if (!active) return ['off', 'inactive'];
  const { lastAcceptedMs } = activity;
  const silentMs = nowMs - (lastAcceptedMs ?? 0);
  if (silentMs < QUIET_MS) return ['good', 'arriving'];
  const lastRefusedMs = Math.max(0, ...refusals.map(({ lastMs }) => lastMs));
  if (nowMs - lastRefusedMs < QUIET_MS) return ['bad', 'all refused'];
  if (lastAcceptedMs === undefined) return ['off', 'no view yet'];
  return ['warn', `quiet for ${duration(silentMs)}`];
}
