import type { ShownUnlistedId, Snapshot } from '../snapshot.ts';
import {
  isSlipKnocking,
  IF_ANOTHER,
  IF_YOURS,
  noneUnlistedWords,
  slipWords,
  unlistedFacts,
  unlistedWords,
} from '../status-words.ts';
import { command } from './copy-command.ts';
import { element, setText, setWords, type View } from './dom.ts';

/** How many such ids there are, and the first of them; leads to all. That there is none, too. */
export function unaskedLine(): View<Snapshot> {
  const link = element('a', { href: '#unlisted-ids' });
  const first = element('span');
  const node = element('p', { class: 'unasked' }, link, first);
  return {
    node,
    update(snapshot) {
      const isNone = snapshot.unlistedIds.length === 0;
      link.hidden = isNone;
      node.classList.toggle('faint', isNone);
      node.classList.toggle('banner', isSlipKnocking(snapshot));
      const { many, ids } = unlistedWords(snapshot);
      setText(link, isNone ? '' : many);
      setWords(first, isNone ? [noneUnlistedWords(snapshot)] : ids);
    },
  };
}

/** An id that nobody has activated, and the command that does. */
export function unlistedIdRow(): View<ShownUnlistedId> {
  const id = element('code');
  const facts = element('p', { class: 'facts' });
  const slip = element('p', { class: 'slip' });
  const other = element('p', { class: 'facts' });
  const activation = command();
  return {
    node: element('li', {}, element('h3', {}, id), facts, slip, other, activation.node),
    update(unlistedId, nowMs) {
      setText(id, unlistedId.id);
      setText(facts, unlistedFacts(unlistedId, nowMs));
      const isSlip = Boolean(unlistedId.nearest);
      slip.hidden = !isSlip;
      setText(other, isSlip ? IF_ANOTHER : IF_YOURS);
      setWords(slip, isSlip ? slipWords(unlistedId) : []);
      activation.update(unlistedId.command, nowMs);
    },
  };
}
