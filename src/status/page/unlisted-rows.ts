import type { ShownKnock } from '../snapshot.ts';
import { command } from './copy-command.ts';
import { element, setText, type View } from './dom.ts';
import { countOf, duration } from '../../base/readable.ts';

/** An id that nobody has activated, and the command that does. */
export function knockCard(): View<ShownKnock> {
  const id = element('h3');
  const facts = element('p', { class: 'facts' });
  const slip = element('p', { class: 'slip' });
  const activation = command();
  return {
    node: element('article', {}, element('header', {}, id), facts, slip, activation.node),
    update(knock, nowMs) {
      setText(id, knock.id);
      const from = knock.origin === undefined ? 'without Origin' : `from ${knock.origin}`;
      const last = `last ${duration(nowMs - knock.lastMs)} ago (${knock.code})`;
      setText(facts, `${countOf(knock.count, 'view')} ${from}, ${last}`);
      slip.hidden = !knock.nearest;
      setText(slip, `A typing slip? ${knock.nearest ?? ''} is listed.`);
      activation.update(knock.command, nowMs);
    },
  };
}
