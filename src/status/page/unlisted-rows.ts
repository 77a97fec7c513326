import { countOf, duration, number } from '../../base/readable.ts';
import { REASONS } from '../reason-words.ts';
import type { ShownUnlistedId, Snapshot } from '../snapshot.ts';
import { noneUnlistedWords } from '../status-words.ts';
import { IDS_MAX } from '../unlisted-ids.ts';
import { command } from './copy-command.ts';
import { element, setText, type View } from './dom.ts';

const NAMED_MAX = 3;
const SEND = 'projects not in the projects file send';

/** How many such ids there are, and the first of them; leads to all. That there is none, too. */
export function unaskedLine(): View<Snapshot> {
  const link = element('a', { href: '#unlisted-ids' });
  const first = element('span');
  const node = element('p', { class: 'unasked' }, link, first);
  return {
    node,
    update({ unlistedIds, unlistedIdsLeftOut, known }, nowMs) {
      const count = unlistedIds.length + unlistedIdsLeftOut;
      link.hidden = count === 0;
      node.classList.toggle('faint', count === 0);
      if (count === 0) {
        setText(first, noneUnlistedWords(known, nowMs));
        return;
      }
      const many = number(count) + (count < IDS_MAX ? '' : ' or more');
      const send = count === 1 ? 'project not in the projects file sends' : SEND;
      setText(link, `${many} ${send} views`);
      const named = unlistedIds.slice(0, NAMED_MAX).map(({ id, nearest }) => {
        return nearest ? `${id} (looks like ${nearest})` : id;
      });
      const last = Math.max(...unlistedIds.map(({ lastMs }) => lastMs));
      const more = count > named.length ? ', …' : '';
      setText(first, `: ${named.join(', ')}${more}. Refused, last ${duration(nowMs - last)} ago.`);
    },
  };
}

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
