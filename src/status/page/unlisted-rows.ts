import { countOf, duration } from '../../base/readable.ts';
import { REASONS } from '../reason-words.ts';
import type { ShownUnlistedId } from '../snapshot.ts';
import { command } from './copy-command.ts';
import { element, setText, type View } from './dom.ts';

/** An id that nobody has activated, and the command that does. */
export function unlistedIdRow(): View<ShownUnlistedId> {
  const id = element('code');
  const facts = element('p', { class: 'facts' });
  const slip = element('p', { class: 'slip' });
  const activation = command();
  return {
    node: element('li', {}, element('h3', {}, id), facts, slip, activation.node),
    update(unlistedId, nowMs) {
      setText(id, unlistedId.id);
      const from = unlistedId.origin === undefined ? 'without Origin' : `from ${unlistedId.origin}`;
      const isUsual = unlistedId.code === 'project-not-activated';
      const reason = isUsual ? '' : ` (${REASONS[unlistedId.code]})`;
      const last = `last ${duration(nowMs - unlistedId.lastMs)} ago${reason}`;
      setText(facts, `${countOf(unlistedId.count, 'view')} ${from}, ${last}`);
      slip.hidden = !unlistedId.nearest;
      setText(slip, `A typing slip? ${unlistedId.nearest ?? ''} is listed.`);
      activation.update(unlistedId.command, nowMs);
    },
  };
}
