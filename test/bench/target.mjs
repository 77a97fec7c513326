// What is asked of a figure, beside what it is.
import { median, rounded } from './rounds.mjs';

/** At least `least`, as the median of the rounds' values. */
export const atLeast = (least, what, values) =>
  row(what, values, `≥ ${least}`, (is) => is >= least);

/** At most `most`. */
export const atMost = (most, what, values) => row(what, values, `≤ ${most}`, (is) => is <= most);

/** Nothing is asked. */
export const shown = (what, values) => row(what, values, '', () => '');

function row(what, values, asked, isMet) {
  const is = values.length === 0 ? undefined : median(values);
  const met = isMet(is);
  const verdict = is === undefined || met === '' ? '' : met ? 'yes' : 'NO';
  return { figure: what, median: rounded(is, 2), asked, met: verdict };
}
