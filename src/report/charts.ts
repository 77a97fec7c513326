import { once } from '../base/once.ts';
import { escapeHtml } from './escape.ts';
import { grouped } from './words.ts';

// Charts of boxes in the page's own colours (style.ts), which are as wide as there is room. Each
// bar names itself on hovering.

/** Of the chart on a wide page and on a phone: a tick takes 65 and 45 pixels. */
const TICKS_MAX = { wide: 14, narrow: 7 };
/** Of bars that have their numbers on them, and of those that have them upright on a phone. */
const NUMBERED_MAX = { wide: 14, narrow: 7 };
/** Of more bars, one that has a word over it would be wider than its place. */
const NAMED_MAX = 35;

export interface Bar {
  readonly label: string;
  /** Under the axis, as far as there is room; may be empty. */
  readonly tick: string;
  /** In full, under each bar in short; of all bars or of none. */
  readonly weekday?: string;
  readonly count: number;
  /** Whether there is more to come, so that it is hatched. */
  readonly isPartial?: boolean;
  /** Whether its views are missing, so that a strip in its place says "none". */
  readonly isGap?: boolean;
}

interface BarOptions {
  /** Whether the bars have their numbers on them, where there is room. */
  readonly isNumbered?: boolean;
  /** What the partial bar is, for the key. */
  readonly partial?: string;
}

/** @param title what the chart shows, for those who cannot see it. */
export function barChart(title: string, bars: readonly Bar[], options: BarOptions = {}): string {
  const isNumbered = options.isNumbered === true && bars.length <= NUMBERED_MAX.wide;
  const top = niceCeiling(Math.max(...bars.map(({ count }) => count)));
  const lines = [0, 0.25, 0.5, 0.75, 1]
    .filter((part) => Number.isInteger(top * part))
    .map((part) => `<p style="bottom: ${100 * part}%"><span>${grouped(top * part)}</span></p>`);
  const drawn = bars.map(({ label, count, isPartial, isGap }) => {
    if (isGap) {
      const none = bars.length > NAMED_MAX ? '' : '<small>none</small>';
      return `<span class="gap" title="${escapeHtml(label)}: ${GAP}">${none}</span>`;
    }
    const height = ((100 * count) / top).toFixed(2);
    const name = `${escapeHtml(label)}${isPartial ? ', so far' : ''}: ${grouped(count)}`;
    const number = isNumbered ? `<small>${grouped(count)}</small>` : '';
    const kind = isPartial ? ' class="partial"' : '';
    return `<span${kind} title="${name}" style="--part: ${height}%">${number}</span>`;
  });
  const kinds = [
    'bars',
    ...(isNumbered ? ['numbered'] : []),
    ...(bars.length > NUMBERED_MAX.narrow ? ['many'] : []),
    ...(bars.length > NUMBERED_MAX.wide ? ['dense'] : []),
  ];
  return chart(
    title,
    kinds.join(' '),
    `<div class="plot">${lines.join('')}<div class="columns">${drawn.join('')}</div></div>` +
      `${weekdays(bars)}<div class="ticks">${ticks(bars.map(({ tick }) => tick))}</div>` +
      keyOf([
        ...(bars.some(({ isPartial }) => isPartial)
          ? [`<span class="partial"></span>${options.partial ?? ''}`]
          : []),
        ...(bars.some(({ isGap }) => isGap) ? [`<span class="gap"></span>${GAP}`] : []),
      ]),
    bars.length,
  );
}

const GAP = 'no view at all';

/** What the marks of a chart stand for. */
const keyOf = (entries: readonly string[]): string =>
  entries.length === 0
    ? ''
    : `<div class="key">${entries.map((entry) => `<p>${entry}</p>`).join('')}</div>`;

/** Where there is little room, their first letters. */
function weekdays(bars: readonly Bar[]): string {
  const names = bars.flatMap(({ weekday }) => weekday ?? []);
  if (names.length === 0) return '';
  const short = names.map((name) => `<span>${name[0]}<small>${name.slice(1, 3)}</small></span>`);
  return `<div class="ticks weekdays">${short.join('')}</div>`;
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const average = once(() => new Intl.NumberFormat('en', { maximumSignificantDigits: 3 }));

type Week = readonly (readonly (number | undefined)[])[];

/** @param week views by weekday and hour; `undefined` for an hour that no day had. */
export function weekChart(title: string, week: Week): string {
  const most = Math.max(...week.flat().map((count) => count ?? 0));
  const rows = week.map((hours, day) => {
    const cells = hours.map((count, hour) => {
      const name = `${WEEKDAYS[day]!} ${hourInWords(hour)}`;
      if (count === undefined) return `<span class="never" title="${name}: ${NEVER}"></span>`;
      const shade = count === 0 ? 0 : 8 + (92 * count) / most;
      const title = `${name}: ${average().format(count)}`;
      return `<span title="${title}" style="--part: ${shade.toFixed(0)}%"></span>`;
    });
    const isWhole = hours.every((count) => count !== undefined);
    const sum = hours.reduce<number>((all, count) => all + (count ?? 0), 0);
    const whole = isWhole ? grouped(Math.round(sum)) : '';
    return `<p>${WEEKDAYS[day]!}</p><div class="columns">${cells.join('')}</div><p>${whole}</p>`;
  });
  const marks = ticks(Array.from({ length: 24 }, (_, hour) => clockOf(hour)));
  const axis = `<p></p><div class="ticks">${marks}</div><p>a day</p>`;
  return chart(title, 'week', `${rows.join('')}${axis}${weekKey(week, most)}`, 24);
}

const NEVER = 'not in these days';

/** What the shades of the cells stand for. */
function weekKey(week: Week, most: number): string {
  const views = `${average().format(most)} ${most === 1 ? 'view' : 'views'} in the hour`;
  return keyOf([
    '<span></span>0',
    `<span class="shades"></span>${views}`,
    ...(week.flat().includes(undefined) ? [`<span class="never"></span>${NEVER}`] : []),
  ]);
}

/** `07:00` */
export const clockOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** `07:00 – 08:00` */
export const hourInWords = (hour: number): string => `${clockOf(hour)} – ${clockOf(hour + 1)}`;

const chart = (title: string, kind: string, content: string, columns: number): string =>
  `<figure class="${kind}" role="img" aria-label="${escapeHtml(title)}" style="--columns: ${columns}">` +
  `${content}</figure>`;

/** Every so many of those that are not empty is shown; on a phone fewer are. */
function ticks(texts: readonly string[]): string {
  const count = texts.filter((text) => text !== '').length;
  const every = Math.ceil(count / TICKS_MAX.wide);
  const everyNarrow = every * Math.ceil(count / every / TICKS_MAX.narrow);
  let i = -1;
  return texts
    .map((text) => {
      if (text !== '') i += 1;
      if (text === '' || i % every !== 0) return '<span></span>';
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
