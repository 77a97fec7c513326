import type { Fact } from '../../base/description.ts';
import { element, list, setText, type View } from './dom.ts';

/** Facts by their names, in a `dl`. */
export const factList = (parent: Element): ReturnType<typeof list<Fact>> =>
  list<Fact>(parent, ([name]) => name, factItem);

function factItem(): View<Fact> {
  const name = element('dt');
  const value = element('dd');
  return {
    node: element('div', {}, name, value),
    update([key, text, kind]) {
      setText(name, key);
      setText(value, text);
      value.classList.toggle('bad', kind === 'bad');
    },
  };
}
