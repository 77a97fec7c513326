import type { Outage } from '../snapshot.ts';
import { since } from './clock.ts';
import { command } from './copy-command.ts';
import { element, setText, type View } from './dom.ts';

/** That no view can be stored: what that means, since when, and what ends it. */
export function outage(): View<Outage | undefined> {
  const words = element('p');
  const mend = command();
  const node = element('div', { class: 'banner bad', hidden: '' }, words, mend.node);
  return {
    node,
    update(item, nowMs) {
      node.hidden = item === undefined;
      if (item === undefined) return;
      const from = item.sinceMs === undefined ? '' : ` since ${since(item.sinceMs, nowMs)}`;
      const lost = 'Nothing that was acknowledged is lost; viewlog goes on by itself afterwards.';
      setText(words, `Every view is refused with 503${from}. ${item.text ?? ''} ${lost}`);
      mend.update(item.command, nowMs);
    },
  };
}
