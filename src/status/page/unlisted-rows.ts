import type { ShownUnlistedId } from '../snapshot.ts';
import { command } from './copy-command.ts';
import { element, setText, type View } from './dom.ts';
import { countOf, duration } from '../../base/readable.ts';

/** An id that nobody has activated, and the command that does. */
export function unlistedIdCard(): View<ShownUnlistedId> {
  const id = element('h3');
  const facts = element('p', { class: 'facts' });
  const slip = element('p', { class: 'slip' });
  const activation = command();
  return {
    node: element('article', {}, element('header', {}, id), facts, slip, activation.node),
    update(unlistedId, nowMs) {
      setText(id, unlistedId.id);
      const from = unlistedId.origin === undefined ? 'without Origin' : `from ${unlistedId.origin}`;
      const last = `last ${duration(nowMs - unlistedId.lastMs)} ago (${unlistedId.code})`;
      setText(facts, `${countOf(unlistedId.count, 'view')} ${from}, ${last}`);
      slip.hidden = !unlistedId.nearest;
      setText(slip, `A typing slip? ${unlistedId.nearest ?? ''} is listed.`);
      activation.update(unlistedId.command, nowMs);
    },
  };
}
