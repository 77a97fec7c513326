import { countOf, number } from '../base/readable.ts';
import { clip } from '../base/text.ts';
import type { Health } from './health.ts';
import { isReady } from './health.ts';
import { REASONS } from './reason-words.ts';
import { isRed, isTrouble, type ProjectState } from './arrival.ts';
import type { RefusalCode } from '../view/refusal.ts';

/** What a page writes of it; a name is the operator's text, in any script. */
export type Words = readonly (string | { readonly name: string })[];

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
  /** Why its views are refused, mostly. */
  readonly cause: RefusalCode | undefined;
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
  const worst =
    projects.find(({ state }) => isRed(state)) ?? projects.find((p) => isTrouble(p.state));
  if (worst !== undefined) return headlineOfTrouble(worst, projects);
  const active = projects.filter((project) => project.active).length;
  const mended = withState('mended');
  const arriving = withState('arriving').length + mended.length;
  if (arriving > 0) {
    const of = `${number(arriving)} of ${countOf(active, 'project')}`;
    const again = mended.length === 0 ? [] : ['; mended: ', ...named(mended), CLEARS];
    return { kind: 'good', words: [`Views are arriving: ${of}`, ...again] };
  }
  return { kind: 'idle', words: [idleWords(active, projects, refused)] };
}

/** A headline of several lines is none. */
const NAME_LENGTH_MAX = 60;

const CLEARS = ' (clears within the hour)';

const TROUBLE_WORDS = {
  'all-refused': 'Views are refused: ',
  'most-refused': 'Nearly all views are refused: ',
  silent: 'Fallen silent: ',
  'some-refused': 'Some views are refused: ',
} as const;

/** Of the project that loses most, and of those that fare alike. */
function headlineOfTrouble(worst: Judged, projects: readonly Judged[]): Headline {
  const state = worst.state as keyof typeof TROUBLE_WORDS;
  const kind = isRed(state) ? 'bad' : 'warn';
  const alike = projects.filter((project) =>
    isRed(state) ? isRed(project.state) : project.state === state,
  );
  if (!worst.active) return { kind, words: ['Inactive, but still sending: ', ...named(alike)] };
  // Of several that fare differently it would seem to be said of all views.
  const common = alike.every((project) => project.state === state) ? state : 'all-refused';
  const words = [TROUBLE_WORDS[common], ...(state === 'silent' ? named(alike) : why(alike))];
  return { kind, words };
}

function idleWords(active: number, projects: readonly Judged[], refused: number): string {
  if (active === 0) return 'No project is active';
  if (refused > 0) return `No view was taken in the last hour, ${number(refused)} refused`;
  const isNew = projects.every(({ state }) => state === 'no-view' || state === 'inactive');
  return isNew ? 'Waiting for the first view' : 'Quiet: no view in the last hour';
}

/** `origin not allowed for My site and 2 more projects`; for different reasons, without one. */
function why(projects: readonly Judged[]): Words {
  const { cause } = projects[0]!;
  const isWhy = cause !== undefined && projects.every((project) => project.cause === cause);
  return [...(isWhy ? [`${REASONS[cause]} for `] : []), ...named(projects)];
}

/** `My site and 2 more projects` */
function named([first, ...more]: readonly Judged[]): Words {
  const rest = more.length === 0 ? [] : [` and ${countOf(more.length, 'more project')}`];
  return [{ name: clip(first!.name, NAME_LENGTH_MAX) }, ...rest];
}
