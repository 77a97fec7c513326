import { escapeHtml } from './escape.ts';
import { section } from './section.ts';
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
  /** Of a page, which may have none; on a phone it stands first. */
  readonly title?: string;
  /** Fainter, after the name. */
  readonly rest: readonly string[];
}

interface TableOptions {
  readonly isWide?: boolean;
  /** What the rows are compared with. */
  readonly before?: Span;
  /** Where days had no view at all, what makes its counts those of as many days with views. */
  readonly scale?: number;
}

/** The bar beside a share is that part of a track whose ends are named. */
const SHARE_HEAD =
  '<th scope="col" class="share">Share<small><span>0</span><span>100 %</span></small></th>';

/**
 * A ranking as a table: each row's views, their share and, where it is compared, their change.
 * @param whole what shares are of.
 */
export function listTable<T>(
  noun: string,
  list: List<T>,
  whole: Whole,
  labelOf: (key: T) => Label,
  { isWide = false, before, scale }: TableOptions = {},
): string {
  if (list.top.length === 0) return '';
  const rows = list.top.map(({ key, count, before: countBefore }) => {
    const part = ((100 * count) / whole.total).toFixed(1);
    const change =
      before === undefined ? '' : `<td>${changeOf(count, (countBefore ?? 0) * (scale ?? 1))}</td>`;
    return (
      `<tr><th scope="row">${rowHead(labelOf(key))}</th><td>${grouped(count)}</td>` +
      `<td class="share" style="--part: ${part}%">${share(count, whole.total)}</td>${change}</tr>`
    );
  });
  const changeHead =
    before === undefined
      ? ''
      : `<th scope="col" class="change">Change from<small>${spanInShort(before)}</small></th>`;
  const shown = titleOf('', list).replace(/^[ ,]+|[()]/g, '');
  const isScaled = before !== undefined && scale !== undefined;
  const remarks = [shown, wholeInWords(whole), isScaled ? 'Change of days that had views' : ''];
  return section(
    noun,
    `<table><thead><tr><td></td><th scope="col">Views</th>${SHARE_HEAD}${changeHead}</tr></thead>` +
      `<tbody>${rows.join('')}</tbody></table>`,
    { remark: remarks.filter(Boolean).join('. '), kind: isWide ? 'wide' : '' },
  );
}

function rowHead({ name, title, rest }: Label): string {
  // A path is one from left to right, whatever its words are.
  const direction = name.startsWith('/') ? ' dir="ltr"' : '';
  const faint = [
    ...(title ? [`<bdi class="title">${escapeHtml(title)}</bdi>`] : []),
    ...rest.map((part) => `<bdi>${escapeHtml(part)}</bdi>`),
  ];
  const head =
    `<bdi${title === '' ? ' class="title"' : ''}${direction}>${escapeHtml(name)}</bdi> ` +
    `<span class="faint">${faint.join('<span> · </span>')}</span>`;
  return title === undefined ? head : `<div class="page">${head}</div>`;
}
