import { formatCount, plural } from '../base/format.ts';
import type { Row } from './sections.ts';

/** A phone has space for this many labels under the chart; a wider page for twice as many. */
const TICKS_MAX = 7;

/** Renders bars that show their names on hovering; a screen reader reads a list of these names. */
export function BarChart({ rows }: { readonly rows: readonly Row[] }) {
  const top = Math.max(...rows.map(({ count }) => count), 1);
  const isShort = rows.length <= 2 * TICKS_MAX;
  const every = isShort ? 1 : Math.ceil(rows.length / TICKS_MAX);
  const partial = rows.find(({ texts }) => texts.length > 1);
  const bars = rows.map((row, i) => {
    const { texts, count } = row;
    const name = `${texts.join(' ')}: ${plural(count, 'view')}`;
    const isCounted = isShort || (count === 0 && row !== partial);
    return (
      <li
        title={name}
        class={row === partial ? 'partial' : ''}
        style={`--part: ${((100 * count) / top).toFixed(1)}%`}
      >
        <span class="hidden">{name}</span>
        <span class="count" aria-hidden="true">
          {isCounted ? formatCount(count) : ''}
        </span>
        <span class="tick" aria-hidden="true">
          {i % every === 0 ? twoLines(texts[0]!) : ''}
        </span>
      </li>
    );
  });
  return (
    <figure>
      <p class="scale" aria-hidden="true">
        <span>{formatCount(top)}</span>
        <span>0</span>
      </p>
      <ol class={isShort ? 'bars short' : 'bars'}>{bars}</ol>
      {partial && <figcaption>Striped: {partial.texts.join(' ')}</figcaption>}
    </figure>
  );
}

/** Allows a line break in `Mon 16 Nov` after the weekday only. */
const twoLines = (label: string): string => label.replace(/( \S+) /, '$1\u00a0');
