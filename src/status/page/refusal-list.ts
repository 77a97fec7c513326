import type { Issue } from '../../view/refusal.ts';
import type { RefusalGroup } from '../refusal-groups.ts';
import type { RefusedSample } from '../refused-samples.ts';
import { element, list, setText, type View } from './dom.ts';
import { duration, number } from '../../base/readable.ts';

/** Refusals by reason, each with its latest sample. */
export function refusalGroups(): View<readonly RefusalGroup[]> {
  const node = element('ul', { class: 'refusals' });
  return { node, update: list(node, ({ code }) => code, group) };
}

function group(): View<RefusalGroup> {
  const head = element('p');
  const count = element('strong');
  const code = element('code');
  const last = element('span', { class: 'faint' });
  head.append(count, ' × ', code, ' ', last);
  const origins = element('p', { class: 'faint' });
  const shown = sample();
  return {
    node: element('li', {}, head, origins, shown.node),
    update(item, nowMs) {
      setText(count, number(item.count));
      setText(code, item.code);
      setText(last, `latest ${duration(nowMs - item.lastMs)} ago`);
      const { latest } = item;
      const isKept = latest !== undefined;
      setText(origins, isKept ? originsOf(item) : 'its sample has made way for newer ones');
      shown.node.toggleAttribute('hidden', !isKept);
      if (isKept) shown.update(latest, nowMs);
    },
  };
}

const originsOf = ({ origins }: RefusalGroup): string =>
  `from ${origins
    .toSorted((a, b) => b.count - a.count)
    .map(({ origin, count }) => `${origin === '' ? 'no Origin' : origin} (${number(count)})`)
    .join(', ')}`;

const sentenceOf = ({ field, message, received }: Issue): string =>
  `${field === '' ? 'the view' : field} ${message}; received ${received}`;

/** What was refused, and every fault of it. */
export function sample(): View<RefusedSample> {
  const detail = element('p');
  const issues = element('ul', { class: 'issues' });
  const text = element('pre', { tabindex: '0' });
  const body = element('details', {}, element('summary', {}, 'as it was sent'), text);
  const showIssues = list<string>(
    issues,
    (issue) => issue,
    () => {
      const node = element('li');
      return { node, update: (issue) => setText(node, issue) };
    },
  );
  return {
    node: element('div', { class: 'sample' }, detail, issues, body),
    update(item, nowMs) {
      setText(detail, item.detail);
      showIssues([...new Set(item.issues.map(sentenceOf))], nowMs);
      setText(text, item.text ?? '');
      body.hidden = item.text === undefined;
    },
  };
}
