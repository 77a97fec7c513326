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
  /** Whether days of its own are missing, so that it is not compared. */
  readonly isGappy?: boolean;
}

interface TableOptions {
  readonly isWide?: boolean;
  /** What the rows are compared with, and by what its counts are multiplied before. */
  readonly compared?: { readonly before: Span; readonly scale: number };
  /** Sentences under the title, after what the shares are of. */
  readonly hints?: readonly string[];
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
  { isWide = false, compared, hints = [] }: TableOptions = {},
): string {
  if (list.top.length === 0) return '';
  const rows = list.top.map(({ key, count, before: countBefore }) => {
    const part = ((100 * count) / whole.total).toFixed(1);
    const label = labelOf(key);
    const much = label.isGappy ? '–' : changeOf(count, (countBefore ?? 0) * (compared?.scale ?? 1));
    const change = compared && `<td>${much}</td>`;
    return (
      `<tr><th scope="row">${rowHead(label)}</th><td>${grouped(count)}</td>` +
      `<td class="share" style="--part: ${part}%">${share(count, whole.total)}</td>${change ?? ''}</tr>`
    );
  });
  const changeHead =
    compared &&
    `<th scope="col" class="change">Change from<small>${spanInShort(compared.before)}</small></th>`;
  const shown = titleOf('', list).replace(/^[ ,]+|[()]/g, '');
  const isScaled = compared !== undefined && compared.scale !== 1;
  const change = isScaled ? ['Change of days that had views'] : [];
  const remarks = [shown, wholeInWords(whole), ...hints, ...change];
  return section(
    noun,
    `<table><thead><tr><td></td><th scope="col">Views</th>${SHARE_HEAD}${changeHead ?? ''}</tr></thead>` +
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
