import { formatCount, plural } from '../base/format.ts';
import { clip } from '../base/text.ts';
import type { Health } from './health.ts';
import { isReady } from './health.ts';
import { REASONS } from './reason-words.ts';
import { isRed, isTrouble, type ProjectState } from './arrival.ts';
import type { RefusalCode } from '../view/refusal.ts';

/**
 * What a page writes of it; a name is the operator's text, in any script, and may lead to a part of
 * the page.
 */
export type Words = readonly (string | { readonly name: string; readonly href?: string })[];

export interface Headline {
  readonly kind: 'good' | 'warn' | 'bad' | 'idle';
  readonly words: Words;
}

/** A listed project, as far as the headline judges it. */
export interface Judged {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly state: ProjectState;
  /** Why its views are refused, the most frequent reason first. */
  readonly causes: readonly RefusalCode[];
}

interface Arrival {
  readonly health: Health;
  /** The worst first. */
  readonly projects: readonly Judged[];
  /** Whether the last hour is not read yet. */
  readonly isBlank: boolean;
  /** Refused in the last hour, of whichever project. */
  readonly refused: number;
}

/** Judges arrival, not the process: are the views of the listed projects taken? */
export function headlineOf({ health, projects, isBlank, refused }: Arrival): Headline {
  if (!isReady(health)) {
    return { kind: 'bad', words: [`Not taking views: ${health.reasons.join(', ')}`] };
  }
  const withState = (state: ProjectState): Judged[] => projects.filter((p) => p.state === state);
  if (isBlank) return { kind: 'idle', words: ['Taking views; reading what came before the start'] };
  const troubles = projects.filter(({ state }) => isTrouble(state));
  if (troubles.length > 0) return headlineOfTroubles(troubles, projects);
  const active = projects.filter((project) => project.active).length;
  const mended = withState('mended');
  const arriving = withState('arriving').length + mended.length;
  if (arriving > 0) {
    const of = `${formatCount(arriving)} of ${plural(active, 'project')}`;
    const again = mended.length === 0 ? [] : ['; mended: ', ...named(mended), CLEARS];
    return { kind: 'good', words: [`Views are arriving: ${of}`, ...again] };
  }
  return { kind: 'idle', words: [idleWords(active, projects, refused)] };
}

/** Of a project's name in a sentence: a headline of several lines is none. */
export const NAME_LENGTH_MAX = 60;

const CLEARS = ' (clears within the hour)';

const TROUBLE_WORDS = {
  'all-refused': 'Views are refused: ',
  'most-refused': 'Nearly all views are refused: ',
  silent: 'Fallen silent: ',
  'some-refused': 'Some views are refused: ',
} as const;

/** Names the one; of several, how many fare how, so that none of them is left out. */
function headlineOfTroubles(troubles: readonly Judged[], projects: readonly Judged[]): Headline {
  const [first, ...others] = troubles;
  return {
    kind: troubles.some(({ state }) => isRed(state)) ? 'bad' : 'warn',
    words: others.length === 0 ? aloneWords(first!) : severalWords(troubles, projects),
  };
}

/** `Views are refused: origin not allowed for My site`; one of two reasons would mislead. */
function aloneWords(project: Judged): Words {
  const { active, causes } = project;
  if (!active) return ['Inactive, but still sending: ', ...named([project])];
  const state = project.state as keyof typeof TROUBLE_WORDS;
  const why = causes.length === 1 ? [`${REASONS[causes[0]!]} for `] : [];
  const reasons = causes.length > 1 ? [`, for ${causes.length} reasons`] : [];
  return [TROUBLE_WORDS[state], ...why, ...named([project]), ...reasons];
}

/** `10 of 24 projects in trouble: 7 invalid view, 2 origin not allowed, 1 silent` */
function severalWords(troubles: readonly Judged[], projects: readonly Judged[]): Words {
  const concerned = projects.filter(({ active, state }) => active || isTrouble(state)).length;
  const counts = new Map<string, number>();
  for (const project of troubles) {
    const fare = fareOf(project);
    counts.set(fare, (counts.get(fare) ?? 0) + 1);
  }
  const fares = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([fare, count]) => (counts.size === 1 ? fare : `${formatCount(count)} ${fare}`));
  const many = `${formatCount(troubles.length)} of ${plural(concerned, 'project')} in trouble`;
  return [`${many}: ${fares.join(', ')}`];
}

function fareOf({ active, state, causes }: Judged): string {
  if (!active) return 'inactive, but still sending';
  if (state === 'silent') return 'silent';
  const [cause, ...others] = causes;
  return cause === undefined || others.length > 0 ? 'refused for several reasons' : REASONS[cause];
}

function idleWords(active: number, projects: readonly Judged[], refused: number): string {
  if (active === 0) return 'No project is active';
  if (refused > 0) return `No view was taken in the last hour, ${formatCount(refused)} refused`;
  const isNew = projects.every(({ state }) => state === 'no-view' || state === 'inactive');
  return isNew ? 'Waiting for the first view' : 'Quiet: no view in the last hour';
}

/** `My site and 2 more projects` */
function named([first, ...more]: readonly Judged[]): Words {
  const rest = more.length === 0 ? [] : [` and ${plural(more.length, 'more project')}`];
  return [{ name: clip(first!.name, NAME_LENGTH_MAX) }, ...rest];
}
