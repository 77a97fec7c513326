import { escapeHtml } from './escape.ts';
import type { Span } from './span.ts';
import type { List } from './summary.ts';
import {
  changeOf,
  grouped,
  share,
  spanInShort,
  titleOf,
  type Whole,
  wholeInWords,
} from './words.ts';

interface Label {
  readonly name: string;
  /** Fainter, after the name. */
  readonly rest: readonly string[];
}

interface TableOptions {
  readonly isWide?: boolean;
  /** What the rows are compared with. */
  readonly before?: Span;
  readonly remark?: string;
}

/** The bar beside a share is that part of a track whose ends are named. */
const SHARE_HEAD =
  '<th scope="col" class="share">Share<small><span>0</span><span>100 %</span></small></th>';

/**
 * A ranking as a table: each row's views, their share and, where it is compared, their change.
 * @param whole what shares are of: how many views, and which.
 */
export function listTable<T>(
  noun: string,
  list: List<T>,
  { total, which = '' }: Whole,
  labelOf: (key: T) => Label,
  { isWide = false, before, remark = '' }: TableOptions = {},
): string {
  if (list.top.length === 0) return '';
  const rows = list.top.map(({ key, count, before: countBefore }) => {
    const { name, rest } = labelOf(key);
    // A path is one from left to right, whatever its words are.
    const direction = name.startsWith('/') ? ' dir="ltr"' : '';
    const faint = rest.map((part) => `<bdi>${escapeHtml(part)}</bdi>`).join(' · ');
    const part = ((100 * count) / total).toFixed(1);
    const change = before === undefined ? '' : `<td>${changeOf(count, countBefore ?? 0)}</td>`;
    return (
      `<tr><th scope="row"><bdi${direction}>${escapeHtml(name)}</bdi> ` +
      `<span class="faint">${faint}</span></th><td>${grouped(count)}</td>` +
      `<td class="share" style="--part: ${part}%">${share(count, total)}</td>${change}</tr>`
    );
  });
  const changeHead =
    before === undefined
      ? ''
      : `<th scope="col" class="change">Change from<small>${spanInShort(before)}</small></th>`;
  const shown = titleOf('', list).replace(/^[ ,]+|[()]/g, '');
  const remarks = [shown, wholeInWords({ total, which }), remark].filter(Boolean).join(', ');
  return (
    `<section class="${isWide ? 'wide' : ''}"><h2>${noun}<small>${remarks}</small></h2>` +
    `<table><thead><tr><td></td><th scope="col">Views</th>${SHARE_HEAD}${changeHead}</tr></thead>` +
    `<tbody>${rows.join('')}</tbody></table></section>`
  );
}
