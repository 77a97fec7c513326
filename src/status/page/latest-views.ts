import { REASONS } from '../reason-words.ts';
import type { Numbered } from '../last-few.ts';
import type { ShownRefusal, ShownView } from '../snapshot.ts';
import { element, setText, type View } from './dom.ts';
import { time } from '../clock.ts';
import { sample } from './refusal-list.ts';

/** A view that was taken; unfolded, its fields. */
export function acceptedRow(): View<Numbered<ShownView>> {
  const { row, body, head } = folding();
  const fields = element('pre', { tabindex: '0', 'aria-label': 'What was sent' });
  body.append(fields);
  return {
    node: row,
    update({ item: view }) {
      head(view, view.url);
      setText(fields, view.text);
    },
  };
}

/** A request that was refused; unfolded, why. */
export function refusedRow(): View<Numbered<ShownRefusal>> {
  const { row, body, head } = folding();
  const origin = element('p', { class: 'faint' });
  const why = sample();
  body.append(origin, why.node);
  return {
    node: row,
    update({ item: refused }, nowMs) {
      const isUnknown = refused.isUnlisted && refused.code === 'project-not-activated';
      head(refused, isUnknown ? 'unknown id' : REASONS[refused.code]);
      setText(origin, refused.origin === undefined ? 'without Origin' : `from ${refused.origin}`);
      why.update(refused, nowMs);
    },
  };
}

function folding() {
  const when = element('time');
  const name = element('bdi', { class: 'who' });
  const project = element('code', { class: 'faint' });
  const what = element('span', { class: 'what' });
  const row = element(
    'details',
    {},
    element('summary', {}, when, ' ', name, ' ', project, ' ', what),
  );
  const body = element('div');
  row.append(body);
  const head = (item: ShownView | ShownRefusal, text: string): void => {
    setText(when, time(item.atMs));
    setText(name, item.name ?? '');
    setText(project, item.project ?? '');
    setText(what, text);
  };
  return { row: element('li', {}, row), body, head };
}
