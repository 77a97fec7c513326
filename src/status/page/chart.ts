import { formatCount, plural } from '../../base/format.ts';
import { QUARTER_MS, QUARTERS, startOf } from '../timeline.ts';
import { shortTime } from '../clock.ts';
import { element, setText, svg, type View } from './dom.ts';

/** Views by quarters of an hour, oldest first, the running one last; what is before was none. */
export interface Series {
  readonly accepted: readonly number[];
  readonly refused: readonly number[];
}

const HEIGHT = 100;
/** A view now and then shall not look like a flood. */
const SCALE_MIN = 5;

/** The last 24 hours in the height of a line; what it shows is told by the numbers beside it. */
export function sparkline(): View<Series> {
  const bars = barChart();
  bars.node.setAttribute('class', 'spark');
  bars.node.setAttribute('aria-hidden', 'true');
  return { node: bars.node, update: (series) => bars.draw(series, scaleOf(series)) };
}

/** The same at large, with a scale; each quarter of an hour can be pointed at, or stepped to. */
export function chart(): View<Series> {
  const bars = barChart();
  bars.node.setAttribute('aria-hidden', 'true');
  const cursor = svg('rect', { class: 'cursor', y: '0', width: '1', height: String(HEIGHT) });
  bars.node.prepend(cursor);
  const slider = element('input', {
    type: 'range',
    min: '0',
    max: String(QUARTERS - 1),
    'aria-label': 'Quarter of an hour',
  }) as HTMLInputElement;
  slider.value = slider.max;
  const [most, half] = [element('span'), element('span')];
  const scale = element('div', { class: 'scale', 'aria-hidden': 'true' }, most, half, '0');
  const hours = [0, 1, 2, 3].map(() => element('span'));
  const axis = element(
    'div',
    { class: 'axis', 'aria-hidden': 'true' },
    ...hours,
    element('span', {}, 'now'),
  );
  const reading = element('span', { class: 'reading' });
  const key = (kind: string, text: string): Element =>
    element('span', { class: `key ${kind}-key` }, text);
  const legend = element('figcaption', {}, key('accepted', 'taken'), key('refused', 'refused'));
  legend.append(element('span', { class: 'faint' }, 'by quarters of an hour'), reading);
  const plot = element('div', { class: 'plot' }, scale, bars.node, slider, axis);

  let shown: Series = { accepted: [], refused: [] };
  let shownMs = 0;
  const read = (): void => {
    const text = quarterOf(shown, shownMs, Number(slider.value));
    cursor.setAttribute('x', slider.value);
    slider.setAttribute('aria-valuetext', text);
    setText(reading, text);
  };
  slider.addEventListener('input', read);
  bars.node.addEventListener('pointermove', (event) => {
    const { left, width } = bars.node.getBoundingClientRect();
    const quarter = Math.floor(((event.clientX - left) / width) * QUARTERS);
    slider.value = String(Math.max(0, Math.min(QUARTERS - 1, quarter)));
    read();
  });
  return {
    node: element('figure', {}, legend, plot),
    update(series, nowMs) {
      shown = series;
      shownMs = nowMs;
      const top = scaleOf(series);
      bars.draw(series, top);
      setText(most, formatCount(top));
      setText(half, formatCount(top / 2));
      for (const [i, hour] of hours.entries()) {
        setText(hour, shortTime(startOf(nowMs, (i * QUARTERS) / 4)));
      }
      read();
    },
  };
}

/** Bars: views taken, and on top of them those refused. */
function barChart() {
  const accepted = svg('path', { class: 'accepted' });
  const refused = svg('path', { class: 'refused' });
  const node = svg('svg', { viewBox: `0 0 ${QUARTERS} ${HEIGHT}`, preserveAspectRatio: 'none' });
  node.append(accepted, refused);
  return {
    node,
    draw(series: Series, scale: number): void {
      accepted.setAttribute('d', barsOf(series.accepted, [], scale));
      refused.setAttribute('d', barsOf(series.refused, series.accepted, scale));
    },
  };
}

/** An even number, so that its half is one that can be read. */
function scaleOf({ accepted, refused }: Series): number {
  const sums = Array.from({ length: QUARTERS }, (_, i) => at(accepted, i) + at(refused, i));
  const most = Math.max(SCALE_MIN, ...sums);
  const step = 10 ** Math.floor(Math.log10(most) - 0.3);
  return 2 * step * Math.ceil(most / (2 * step));
}

const at = (counts: readonly number[], quarter: number): number =>
  counts[quarter - QUARTERS + counts.length] ?? 0;

/** One view must be seen beside ten thousand. */
const heightOf = (count: number, scale: number): number =>
  count === 0 ? 0 : Math.max(3, (count / scale) * HEIGHT);

function barsOf(counts: readonly number[], below: readonly number[], scale: number): string {
  let path = '';
  for (let i = QUARTERS - counts.length; i < QUARTERS; i++) {
    const height = heightOf(at(counts, i), scale);
    const bottom = HEIGHT - heightOf(at(below, i), scale);
    if (height > 0)
      path += `M${i} ${bottom.toFixed(1)}v${(-height).toFixed(1)}h.8V${bottom.toFixed(1)}z`;
  }
  return path;
}

/** `14:15 to 14:30: 300 views taken, 2 refused` */
function quarterOf({ accepted, refused }: Series, nowMs: number, quarter: number): string {
  const fromMs = startOf(nowMs, quarter);
  const to = quarter === QUARTERS - 1 ? 'now' : shortTime(fromMs + QUARTER_MS);
  const taken = `${plural(at(accepted, quarter), 'view')} taken`;
  return `${shortTime(fromMs)} to ${to}: ${taken}, ${formatCount(at(refused, quarter))} refused`;
}
