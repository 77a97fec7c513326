import { escapeHtml } from './escape.ts';
import { grouped } from './summary.ts';

// Charts as SVG, drawn in the page's own colours (style.ts). Each bar names itself on hovering.

const WIDTH = 880;
const HEIGHT = 220;
const LEFT = 56;
const BOTTOM = 24;
const TOP = 10;
const LABEL_WIDTH = 70;

export interface Bar {
  readonly label: string;
  /** Under the axis, as far as there is room. */
  readonly tick: string;
  readonly count: number;
}

/** @param title what the chart shows, for those who cannot see it. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const top = niceCeiling(Math.max(...bars.map(({ count }) => count)));
  const plotHeight = HEIGHT - TOP - BOTTOM;
  const step = (WIDTH - LEFT) / bars.length;
  const gap = Math.min(6, step * 0.2);
  // At most 64 wide: one day is no wall.
  const width = Math.min(64, step - gap);
  const y = (count: number): number => TOP + plotHeight * (1 - count / top);
  const every = Math.ceil((bars.length * LABEL_WIDTH) / (WIDTH - LEFT));
  const grid = [0, 0.25, 0.5, 0.75, 1]
    .map((part) => top * part)
    .filter(Number.isInteger)
    .map(
      (count) =>
        `<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${fixed(y(count))}" y2="${fixed(y(count))}"/>` +
        `<text x="${LEFT - 8}" y="${fixed(y(count) + 4)}" text-anchor="end">${grouped(count)}</text>`,
    );
  const drawn = bars.map(({ label, tick, count }, i) => {
    const x = LEFT + step * i + (step - width) / 2;
    const at = `x="${fixed(x)}" width="${fixed(width)}"`;
    const text =
      i % every === 0
        ? `<text x="${fixed(x + width / 2)}" y="${HEIGHT - 6}" text-anchor="middle">${escapeHtml(tick)}</text>`
        : '';
    const name = `<title>${escapeHtml(label)}: ${grouped(count)}</title>`;
    // Taller than the bar, so that a low one can be pointed at too.
    const target = `<rect class="target" ${at} y="${TOP}" height="${plotHeight}"/>`;
    const bar = `<rect class="bar" ${at} y="${fixed(y(count))}" height="${fixed(TOP + plotHeight - y(count))}" rx="2"/>`;
    return `<g>${name}${target}${bar}${text}</g>`;
  });
  return svg(title, WIDTH, HEIGHT, [...grid, ...drawn]);
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const CELL = { width: 34, height: 24, gap: 2 };

/** @param week views by weekday and hour. */
export function weekChart(title: string, week: readonly (readonly number[])[]): string {
  const most = Math.max(1, ...week.flat());
  const stepX = CELL.width + CELL.gap;
  const stepY = CELL.height + CELL.gap;
  const rows = week.flatMap((hours, day) => [
    `<text x="${LEFT - 12}" y="${day * stepY + 17}" text-anchor="end">${WEEKDAYS[day]!}</text>`,
    ...hours.map((count, hour) => {
      const at = `x="${LEFT + hour * stepX}" y="${day * stepY}"`;
      const name = `${WEEKDAYS[day]!} ${clockOf(hour)}: ${grouped(count)}`;
      const size = `width="${CELL.width}" height="${CELL.height}" rx="3"`;
      const cell = `<rect class="cell" ${at} ${size}/>`;
      const shade =
        count === 0
          ? ''
          : `<rect class="bar" ${at} ${size} opacity="${(0.08 + (0.92 * count) / most).toFixed(2)}"/>`;
      return `<g><title>${name}</title>${cell}${shade}</g>`;
    }),
  ]);
  const hours = Array.from({ length: 8 }, (_, i) => 3 * i).map(
    (hour) =>
      `<text x="${LEFT + hour * stepX + CELL.width / 2}" y="${7 * stepY + 16}" text-anchor="middle">${clockOf(hour)}</text>`,
  );
  return svg(title, LEFT + 24 * stepX, 7 * stepY + 22, [...rows, ...hours]);
}

/** `07:00` */
export const clockOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

const svg = (title: string, width: number, height: number, parts: readonly string[]): string =>
  `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(title)}">` +
  `${parts.join('')}</svg>`;

const fixed = (number: number): string => number.toFixed(1);

/** At or above `count`; quarters of it are round numbers. */
function niceCeiling(count: number): number {
  for (let power = 1; ; power *= 10) {
    const step = [4, 8, 12, 16, 20, 24, 28, 32, 36].find((step) => count <= step * power);
    if (step !== undefined) return step * power;
  }
}
