import { escapeHtml } from './escape.ts';
import { grouped } from './words.ts';

// Charts of boxes in the page's own colours (style.ts), which are as wide as there is room. Each
// bar names itself on hovering.

/** Of the chart on a wide page and on a phone, in pixels: a tick takes 70 and 60. */
const TICKS_MAX = { wide: 12, narrow: 5 };

export interface Bar {
  readonly label: string;
  /** Under the axis, as far as there is room. */
  readonly tick: string;
  readonly count: number;
}

/** @param title what the chart shows, for those who cannot see it. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const top = niceCeiling(Math.max(...bars.map(({ count }) => count)));
  const lines = [0, 0.25, 0.5, 0.75, 1]
    .filter((part) => Number.isInteger(top * part))
    .map((part) => `<p style="bottom: ${100 * part}%"><span>${grouped(top * part)}</span></p>`);
  const drawn = bars.map(({ label, count }) => {
    const height = ((100 * count) / top).toFixed(2);
    return `<span title="${escapeHtml(label)}: ${grouped(count)}" style="--part: ${height}%"></span>`;
  });
  const marks = ticks(bars.map(({ tick }) => tick));
  return chart(
    title,
    'bars',
    `<div class="plot">${lines.join('')}<div class="columns">${drawn.join('')}</div></div>` +
      `<div class="ticks">${marks}</div>`,
    bars.length,
  );
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const average = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** @param week views by weekday and hour. */
export function weekChart(title: string, week: readonly (readonly number[])[]): string {
  const most = Math.max(...week.flat()) || 1;
  const rows = week.map((hours, day) => {
    const cells = hours.map((count, hour) => {
      const name = `${WEEKDAYS[day]!} ${clockOf(hour)}: ${average.format(count)}`;
      const shade = count === 0 ? 0 : 8 + (92 * count) / most;
      return `<span title="${name}" style="--part: ${shade.toFixed(0)}%"></span>`;
    });
    return `<p>${WEEKDAYS[day]!}</p><div class="columns">${cells.join('')}</div>`;
  });
  const marks = ticks(Array.from({ length: 24 }, (_, hour) => clockOf(hour)));
  return chart(title, 'week', `${rows.join('')}<p></p><div class="ticks">${marks}</div>`, 24);
}

/** `07:00` */
export const clockOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

const chart = (title: string, kind: string, content: string, columns: number): string =>
  `<figure class="${kind}" role="img" aria-label="${escapeHtml(title)}" style="--columns: ${columns}">` +
  `${content}</figure>`;

/** Every so many has its text; on a phone fewer have. */
function ticks(texts: readonly string[]): string {
  const every = Math.ceil(texts.length / TICKS_MAX.wide);
  const everyNarrow = every * Math.ceil(texts.length / every / TICKS_MAX.narrow);
  return texts
    .map((text, i) => {
      if (i % every !== 0) return '<span></span>';
      const kind = i % everyNarrow === 0 ? '' : ' class="wide-only"';
      return `<span${kind}>${escapeHtml(text)}</span>`;
    })
    .join('');
}

/** At or above `count`; quarters of it are round numbers. */
function niceCeiling(count: number): number {
  for (let power = 1; ; power *= 10) {
    const step = [4, 8, 12, 16, 20, 24, 28, 32, 36].find((step) => count <= step * power);
    if (step !== undefined) return step * power;
  }
}
