import { formatCount, formatDuration } from '../../base/format.ts';
import { REASONS } from '../reason-words.ts';
import type { RefusedSample } from '../refused-samples.ts';
import type { ShownOrigin, ShownRefusals } from '../shown-projects.ts';
import { sentenceOf } from '../trouble-reasons.ts';
import { command } from './copy-command.ts';
import { element, list, setText, type View } from './dom.ts';

/** Refusals by reason and origin, each with a sample and what mends it. */
export function refusalGroups(): View<readonly ShownRefusals[]> {
  const node = element('ul', { class: 'refusals' });
  return { node, update: list(node, ({ code }) => code, group) };
}

function group(): View<ShownRefusals> {
  const count = element('strong');
  const code = element('code');
  const last = element('span', { class: 'faint' });
  const head = element('p', {}, count, ' ', code, ' ', last);
  const mend = command();
  const forgotten = element('p', { class: 'faint' }, 'its sample has made way for newer ones');
  const origins = element('ul', { class: 'origins' });
  const showOrigins = list<ShownOrigin>(origins, ({ origin }) => origin, ofOrigin);
  return {
    node: element('li', {}, head, mend.node, forgotten, origins),
    update(item, nowMs) {
      setText(count, `${formatCount(item.count)} × ${REASONS[item.code]}`);
      setText(code, item.code);
      setText(last, `latest ${formatDuration(nowMs - item.lastMs)} ago`);
      mend.update(item.command, nowMs);
      forgotten.hidden = item.origins.length > 0;
      showOrigins(
        item.origins.toSorted((a, b) => b.count - a.count),
        nowMs,
      );
    },
  };
}

function ofOrigin(): View<ShownOrigin> {
  const from = element('p', { class: 'faint' });
  const mend = command();
  const shown = sample();
  return {
    node: element('li', {}, from, mend.node, shown.node),
    update({ origin, count, command, latest }, nowMs) {
      setText(
        from,
        `${origin === '' ? 'without Origin' : `from ${origin}`} (${formatCount(count)})`,
      );
      mend.update(command, nowMs);
      shown.node.toggleAttribute('hidden', latest === undefined);
      if (latest !== undefined) shown.update(latest, nowMs);
    },
  };
}

/** What was refused, and every fault of it. */
export function sample(): View<RefusedSample> {
  const detail = element('p');
  const issues = element('ul', { class: 'issues' });
  const text = element('pre', { tabindex: '0', 'aria-label': 'What was sent' });
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
