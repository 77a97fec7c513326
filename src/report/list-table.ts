import { escapeHtml } from './escape.ts';
import type { List } from './summary.ts';
import { changeOf, grouped, share, titleOf } from './words.ts';

interface Label {
  readonly name: string;
  /** Fainter, after the name; may be empty. */
  readonly rest: string;
}

/**
 * A ranking as a table: each row's views, their share and, where it is compared, their change.
 * @param total what shares are of.
 */
export function listTable<T>(
  noun: string,
  list: List<T>,
  total: number,
  labelOf: (key: T) => Label,
  { isWide = false, remark = '' } = {},
): string {
  if (list.top.length === 0) return '';
  const most = list.top[0]!.count;
  const rows = list.top.map(({ key, count, before }) => {
    const { name, rest } = labelOf(key);
    const faint = rest === '' ? '' : ` <bdi class="faint">${escapeHtml(rest)}</bdi>`;
    return (
      `<tr style="--part: ${((100 * count) / most).toFixed(1)}%">` +
      `<th scope="row"><bdi>${escapeHtml(name)}</bdi>${faint}</th>` +
      `<td>${grouped(count)}</td><td>${share(count, total)}</td>${changeCell(count, before)}</tr>`
    );
  });
  const isCompared = list.top[0]!.before !== undefined;
  const head = ['Views', 'Share', ...(isCompared ? ['Change'] : [])].map(
    (column) => `<th scope="col">${column}</th>`,
  );
  const remarks = [titleOf('', list).replace(/^[ ,]+/, ''), remark].filter(Boolean).join(', ');
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
