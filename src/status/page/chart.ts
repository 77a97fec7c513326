import { MINUTE_MS } from '../../base/time.ts';
import { MINUTES } from '../minutes.ts';
import { element, setText, svg, type View } from './dom.ts';
import { number } from '../../base/readable.ts';
import { time } from './clock.ts';

/** Views a minute, oldest first, the minute that still runs last; what is before was none. */
export interface Series {
  readonly accepted: readonly number[];
  readonly refused: readonly number[];
}

const HEIGHT = 48;
/** A view now and then shall not look like a flood. */
const SCALE_MIN = 5;

/** Bars, one a minute: views taken, and on top of them those refused. */
export function chart(): View<Series> {
  const accepted = svg('path', { class: 'accepted' });
  const refused = svg('path', { class: 'refused' });
  const plot = svg('svg', {
    viewBox: `0 0 ${MINUTES} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
  });
  plot.append(accepted, refused);
  const peak = element('span');
  const pointed = element('span', { class: 'pointed' });
  const caption = element('figcaption', {}, element('span', {}, '3 h ago'), pointed, peak);
  let shown: Series = { accepted: [], refused: [] };
  let shownMs = 0;
  plot.addEventListener('pointermove', (event) => {
    const { left, width } = plot.getBoundingClientRect();
    const minute = Math.floor(((event.clientX - left) / width) * MINUTES);
    setText(pointed, minute >= 0 && minute < MINUTES ? minuteOf(shown, shownMs, minute) : '');
  });
  plot.addEventListener('pointerleave', () => setText(pointed, ''));
  return {
    node: element('figure', {}, plot, caption),
    update(series, nowMs) {
      shown = series;
      shownMs = nowMs;
      const most = Math.max(
        0,
        ...Array.from(
          { length: MINUTES },
          (_, i) => at(series.accepted, i) + at(series.refused, i),
        ),
      );
      const scale = Math.max(SCALE_MIN, most);
      accepted.setAttribute('d', bars(series.accepted, [], scale));
      refused.setAttribute('d', bars(series.refused, series.accepted, scale));
      const now = at(series.accepted, MINUTES - 1);
      setText(peak, most === 0 ? '' : `peak ${number(most)}/min`);
      const label = `Views a minute over three hours: ${number(now)} in this one, peak ${number(most)}`;
      plot.setAttribute('aria-label', label);
    },
  };
}

const at = (counts: readonly number[], minute: number): number =>
  counts[minute - MINUTES + counts.length] ?? 0;

/** One view must be seen beside ten thousand. */
const heightOf = (count: number, scale: number): number =>
  count === 0 ? 0 : Math.max(1.5, (count / scale) * HEIGHT);

function bars(counts: readonly number[], below: readonly number[], scale: number): string {
  let path = '';
  for (let minute = MINUTES - counts.length; minute < MINUTES; minute++) {
    const height = heightOf(at(counts, minute), scale);
    const bottom = HEIGHT - heightOf(at(below, minute), scale);
    if (height > 0)
      path += `M${minute} ${bottom.toFixed(1)}v${(-height).toFixed(1)}h.85V${bottom.toFixed(1)}z`;
  }
  return path;
}

function minuteOf({ accepted, refused }: Series, nowMs: number, minute: number): string {
  const startMs = (Math.floor(nowMs / MINUTE_MS) - (MINUTES - 1 - minute)) * MINUTE_MS;
  const taken = `${number(at(accepted, minute))} taken`;
  const not = at(refused, minute);
  return `${time(startMs).slice(0, 5)}: ${taken}${not > 0 ? `, ${number(not)} refused` : ''}`;
}
