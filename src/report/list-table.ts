import { escapeHtml } from './escape.ts';
import type { List } from './summary.ts';
import { changeOf, grouped, share, titleOf, type Whole, wholeInWords } from './words.ts';

interface Label {
  readonly name: string;
  /** Fainter, after the name. */
  readonly rest: readonly string[];
}

/**
 * A ranking as a table: each row's views, their share and, where it is compared, their change.
 * @param whole what shares are of: how many views, and which.
 */
export function listTable<T>(
  noun: string,
  list: List<T>,
  { total, which = '' }: Whole,
  labelOf: (key: T) => Label,
  { isWide = false, remark = '' } = {},
): string {
  if (list.top.length === 0) return '';
  const most = list.top[0]!.count;
  const rows = list.top.map(({ key, count, before }) => {
    const { name, rest } = labelOf(key);
    // A path is one from left to right, whatever its words are.
    const direction = name.startsWith('/') ? ' dir="ltr"' : '';
    const faint = rest.map((part) => `<bdi>${escapeHtml(part)}</bdi>`).join(' · ');
    return (
      `<tr style="--part: ${((100 * count) / most).toFixed(1)}%">` +
      `<th scope="row"><bdi${direction}>${escapeHtml(name)}</bdi> ` +
      `<span class="faint">${faint}</span></th>` +
      `<td>${grouped(count)}</td><td>${share(count, total)}</td>${changeCell(count, before)}</tr>`
    );
  });
  const isCompared = list.top[0]!.before !== undefined;
  const head = ['Views', 'Share', ...(isCompared ? ['Change'] : [])].map(
    (column) => `<th scope="col">${column}</th>`,
  );
  const shown = titleOf('', list).replace(/^[ ,]+|[()]/g, '');
  const remarks = [shown, wholeInWords({ total, which }), remark].filter(Boolean).join(', ');
  return (
    `<section class="${isWide ? 'wide' : ''}"><h2>${noun}<small>${remarks}</small></h2>` +
    `<table${isCompared ? ' class="compared"' : ''}><thead><tr><td></td>${head.join('')}</tr></thead>` +
    `<tbody>${rows.join('')}</tbody></table></section>`
  );
}

function changeCell(count: number, before: number | undefined): string {
  if (before === undefined) return '';
  const [number, part] = changeOf(count, before);
  return `<td class="change">${number} <span>${part}</span></td>`;
}
