import type { Outage } from '../snapshot.ts';
import { outageWords } from '../status-words.ts';
import { command } from './copy-command.ts';
import { element, setText, type View } from './dom.ts';

/** That no view can be stored: what that means, since when, and what ends it. */
export function outage(): View<Outage | undefined> {
  const what = element('p');
  const remedy = element('p');
  const mend = command();
  const node = element('div', { class: 'banner bad', hidden: '' }, what, remedy, mend.node);
  return {
    node,
    update(item, nowMs) {
      node.hidden = item === undefined;
      if (item === undefined) return;
      const [means, ends] = outageWords(item, nowMs);
      setText(what, means);
      setText(remedy, ends);
      mend.update(item.command, nowMs);
    },
  };
}
