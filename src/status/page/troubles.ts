import type { Snapshot } from '../snapshot.ts';
import type { Reason } from '../trouble-reasons.ts';
import { type Trouble, troublesOf } from '../trouble-words.ts';
import { command } from './copy-command.ts';
import { element, list, setWords, type View } from './dom.ts';

const TROUBLES_MAX = 4;

/** The projects in trouble: the worst at length, of the others which and since when. */
export function troubleList(parent: Element, more: Element) {
  const show = list(parent, ({ id }) => id, trouble);
  return (snapshot: Snapshot): void => {
    const { told, others } = troublesOf(snapshot, TROUBLES_MAX);
    show(told, snapshot.nowMs);
    setWords(more, others);
  };
}

/** Who is in trouble: since when, how much, and each reason. */
function trouble(): View<Trouble> {
  const who = element('b');
  const words = element('span');
  const reasons = element('div');
  const others = element('p');
  const showReasons = list<Reason>(reasons, ({ key }) => key, reasonItem);
  return {
    node: element('li', {}, element('p', {}, who, ': ', words), reasons, others),
    update({ isBad, who: name, extent, reasons: why, each }, nowMs) {
      reasons.parentElement!.classList.toggle('bad', isBad);
      setWords(who, name);
      // One reason goes on in the same line: sixty projects shall fit on two screens.
      const goesOn = why.length === 1;
      const space = extent.length === 0 ? '' : ' ';
      setWords(words, goesOn ? [...extent, space, ...why[0]!.words] : extent);
      showReasons(goesOn ? [{ ...why[0]!, words: [] }] : why, nowMs);
      others.hidden = each.length === 0;
      setWords(others, each);
    },
  };
}

function reasonItem(): View<Reason> {
  const why = element('p');
  const mend = command();
  return {
    node: element('div', { class: 'reason' }, why, mend.node),
    update(reason, nowMs) {
      why.hidden = reason.words.length === 0;
      setWords(why, reason.words);
      mend.update(reason.command, nowMs);
    },
  };
}
