import type { Fact } from '../../base/description.ts';
import type { Snapshot } from '../snapshot.ts';
import { chart } from './chart.ts';
import { element, list, setText, type View } from './dom.ts';

/** All projects together, and where their views go. */
export function overview(): View<Snapshot> {
  const views = chart();
  const facts = element('dl');
  const showFacts = list<Fact>(facts, ([name]) => name, factItem);
  return {
    node: element('article', {}, views.node, facts),
    update(snapshot, nowMs) {
      const { acceptedByMinute: accepted, refusedByMinute: refused } = snapshot.total;
      views.update({ accepted, refused }, nowMs);
      showFacts(snapshot.facts, nowMs);
    },
  };
}

function factItem(): View<Fact> {
  const name = element('dt');
  const value = element('dd');
  return {
    node: element('div', {}, name, value),
    update([key, text]) {
      setText(name, key);
      setText(value, text);
    },
  };
}
