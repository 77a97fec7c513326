import { countOf } from '../../base/readable.ts';
import { clip } from '../../base/text.ts';
import { isRed } from '../arrival.ts';
import type { Words } from '../headline.ts';
import type { ShownProject } from '../shown-projects.ts';
import type { Snapshot } from '../snapshot.ts';
import { headOf, type Reason, sinceOf, troublesOf, whyOf } from '../status-words.ts';
import { command } from './copy-command.ts';
import { element, list, setText, setWords, type View } from './dom.ts';

const TROUBLES_MAX = 3;
const NAMED_MAX = 5;
const NAME_LENGTH_MAX = 60;

/** The projects in trouble: the worst at length, of the others which and since when. */
export function troubleList(parent: Element, more: Element) {
  const show = list(parent, ({ id }) => id, trouble);
  return (snapshot: Snapshot): void => {
    const { nowMs } = snapshot;
    const troubles = troublesOf(snapshot);
    show(troubles.slice(0, TROUBLES_MAX), nowMs);
    setWords(more, othersOf(troubles.slice(TROUBLES_MAX), nowMs));
  };
}

/** `And 7 more projects in trouble, below: My site refused since about 14:15, …` */
function othersOf(troubles: readonly ShownProject[], nowMs: number): Words {
  if (troubles.length === 0) return [];
  const named = troubles.slice(0, NAMED_MAX).flatMap((project, i) => {
    return [
      i === 0 ? ': ' : '; ',
      { name: clip(project.name, NAME_LENGTH_MAX) },
      ` ${sinceOf(project, nowMs)}`,
    ];
  });
  const left = troubles.length > NAMED_MAX ? '; …' : '.';
  return [`And ${countOf(troubles.length, 'more project')} in trouble, below`, ...named, left];
}

/** A project in trouble: since when, how much, and each reason. */
function trouble(): View<ShownProject> {
  const name = element('bdi');
  const words = element('span');
  const reasons = element('div');
  const showReasons = list<Reason>(reasons, ({ key }) => key, reasonItem);
  return {
    node: element('li', {}, element('p', {}, element('b', {}, name), ': ', words), reasons),
    update(project, nowMs) {
      reasons.parentElement!.classList.toggle('bad', isRed(project.state));
      setText(name, clip(project.name, NAME_LENGTH_MAX));
      const head = headOf(project, nowMs);
      const why = whyOf(project);
      // One reason goes on in the same line: sixty projects shall fit on two screens.
      const isOne = why.length === 1;
      setWords(words, isOne ? [head, ' ', ...why[0]!.words] : [head]);
      showReasons(isOne ? [{ ...why[0]!, words: [] }] : why, nowMs);
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
