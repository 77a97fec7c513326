import { formatCount, plural } from '../base/format.ts';
import type { Bar } from './words.ts';

/** As many labels fit under the chart on a phone; twice as many on a wider page. */
const TICKS_MAX = 7;

/** Bars that name themselves on hovering; to a screen reader, a list of these names. */
export function BarChart({ bars }: { readonly bars: readonly Bar[] }) {
  const top = roundedUp(Math.max(...bars.map(({ count }) => count), 1));
  const isShort = bars.length <= 2 * TICKS_MAX;
  const every = isShort ? 1 : Math.ceil(bars.length / TICKS_MAX);
  const partial = bars.find(({ isPartial }) => isPartial);
  const items = bars.map(({ label, count, isPartial }, i) => {
    const name = `${label}${isPartial ? ' so far' : ''}: ${plural(count, 'view')}`;
    const isAlso = isShort && bars.length > TICKS_MAX && i % 2 === 1;
    const isCounted = isShort || (count === 0 && !isPartial);
    return (
      <li
        title={name}
        class={isPartial ? 'partial' : ''}
        style={`--part: ${((100 * count) / top).toFixed(1)}%`}
      >
        <span class="hidden">{name}</span>
        <span class="count" aria-hidden="true">
          {isCounted ? formatCount(count) : ''}
        </span>
        <span class={isAlso ? 'tick also' : 'tick'} aria-hidden="true">
          {i % every === 0 ? twoLines(label) : ''}
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
      <ol class={isShort ? 'bars short' : 'bars'}>{items}</ol>
      {partial && <figcaption>Striped: {partial.label} so far</figcaption>}
    </figure>
  );
}

/** Returns the next number with one digit that is not 0. */
function roundedUp(count: number): number {
  const power = 10 ** Math.floor(Math.log10(count));
  return Math.ceil(count / power) * power;
}

/** Lets `Mon 16 Nov` break after the weekday only. */
const twoLines = (label: string): string => label.replace(/( \S+) /, '$1\u00a0');
