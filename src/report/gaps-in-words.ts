import { plural } from '../base/format.ts';
import { once } from '../base/once.ts';
import { clip } from '../base/text.ts';
import { type LikeForLike, quietProjects } from './gaps.ts';
import { lengthOf, spansOf } from './span.ts';
import type { Summary } from './summary.ts';
import { dayInWords, grouped, projectInWords, siteOf, spanInShort } from './words.ts';

// How a report says which days had no view.

const PROJECTS_MAX = 3;
const NAME_LENGTH_MAX = 48;

/** `Kitchen & garden shop had no view on 17–18 Nov`, a line for each; of several projects. */
export function quietInWords(summary: Summary): string[] {
  if (siteOf(summary) !== undefined) return [];
  const quiet = quietProjects(summary);
  const lines = quiet
    .slice(0, PROJECTS_MAX)
    .map(
      ({ project, days }) =>
        `${clip(projectInWords(summary, project), NAME_LENGTH_MAX)} had no view on ${daysInShort(days)}`,
    );
  const more = quiet.length - lines.length;
  return more === 0
    ? lines
    : [...lines, `${plural(more, 'more project')} had no view on some days`];
}

/**
 * Why days are compared instead of totals, and which: `Compared by day: Thu 12 Nov had no view at
 * all`, `The averages are of the 10 full days that had views in both spans`.
 * @param before the span before: `the 7 days before`
 */
export function likeForLikeInWords(like: LikeForLike, before: string): string[] {
  const { gaps, gapsBefore, firstDay, averagedDays } = like;
  const reasons = [
    ...(firstDay === undefined ? [] : [`no view came before ${daysInShort([firstDay])}`]),
    ...(gaps.length > 0 ? [`${daysInShort(gaps)} had no view at all`] : []),
    ...(gapsBefore.length > 0
      ? [`of ${before}, ${daysInShort(gapsBefore)} had no view at all`]
      : []),
  ].join('; ');
  if (like.before === undefined) {
    return [`The average is of the ${plural(averagedDays, 'full day')} that had views: ${reasons}`];
  }
  const averages = `The averages are of the ${plural(averagedDays, 'full day')} that had views in both spans`;
  return [`Compared by day: ${reasons}`, averages];
}

const GAPS_MAX = 3;

/** `Thu 12 and 16–17 Nov`; the last of them, where there are many: `…, 17 Nov and 4 more before` */
export function daysInShort(days: readonly string[]): string {
  const spans = spansOf(days);
  const shown = spans.slice(-GAPS_MAX);
  const told = shown.map((span, i) => {
    const { fromDay, toDay } = span;
    const text = (fromDay === toDay ? dayInWords(toDay) : spanInShort(span)).replace(
      / /g,
      '\u00a0',
    );
    // The month is said once for days that follow each other in it.
    const isSaid = shown[i + 1]?.fromDay.startsWith(fromDay.slice(0, 'YYYY-MM'.length));
    return isSaid ? text.replace(/\u00a0[^\u00a0]+$/, '') : text;
  });
  const left = days.length - shown.reduce((sum, span) => sum + lengthOf(span), 0);
  return and().format(left === 0 ? told : [...told, `${grouped(left)} more before`]);
}

const and = once(() => new Intl.ListFormat('en-GB'));
