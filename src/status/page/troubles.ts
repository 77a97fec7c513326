import { countOf, duration, number } from '../../base/readable.ts';
import { clip } from '../../base/text.ts';
import type { RefusalCode } from '../../view/refusal.ts';
import { isRed, isTrouble, reasonsOf } from '../arrival.ts';
import type { Words } from '../headline.ts';
import { REASONS } from '../reason-words.ts';
import type { ShownOrigin, ShownProject, ShownRefusals } from '../shown-projects.ts';
import type { Snapshot } from '../snapshot.ts';
import { QUARTERS } from '../timeline.ts';
import { startOf } from './chart.ts';
import { since } from './clock.ts';
import { command } from './copy-command.ts';
import { element, list, setText, setWords, type View } from './dom.ts';
import { lastOf } from './project-rows.ts';
import { sentenceOf } from './refusal-list.ts';

const TROUBLES_MAX = 3;
const NAMED_MAX = 5;
const REASONS_MAX = 3;
const NAME_LENGTH_MAX = 60;

/** The projects in trouble: the worst at length, of the others which and since when. */
export function troubleList(parent: Element, more: Element) {
  const show = list(parent, ({ id }) => id, trouble);
  return ({ projects, outage, nowMs }: Snapshot): void => {
    const all = projects.filter(({ state }) => isTrouble(state));
    const troubles = outage === undefined ? all : all.map(withoutUnstored);
    show(troubles.slice(0, TROUBLES_MAX), nowMs);
    setWords(more, othersOf(troubles.slice(TROUBLES_MAX), nowMs));
  };
}

/** What cannot be stored is told once, of all projects. */
const withoutUnstored = (project: ShownProject): ShownProject => ({
  ...project,
  refusals: project.refusals.filter(({ code }) => code !== 'storage-unavailable'),
});

/** `And 7 more projects in trouble, below: My site refused since about 14:15, …` */
function othersOf(troubles: readonly ShownProject[], nowMs: number): Words {
  if (troubles.length === 0) return [];
  const named = troubles.slice(0, NAMED_MAX).flatMap((project, i) => {
    return [
      i === 0 ? ': ' : '; ',
      { name: clip(project.name, NAME_LENGTH_MAX) },
      ` ${sinceOf(project, nowMs)}`,
    ];
  });
  const left = troubles.length > NAMED_MAX ? '; …' : '.';
  return [`And ${countOf(troubles.length, 'more project')} in trouble, below`, ...named, left];
}

/** Why, and what mends it. */
interface Reason {
  readonly key: string;
  readonly words: Words;
  readonly command: string | undefined;
}

/** A project in trouble: since when, how much, and each reason. */
function trouble(): View<ShownProject> {
  const name = element('bdi');
  const words = element('span');
  const reasons = element('div');
  const showReasons = list<Reason>(reasons, ({ key }) => key, reasonItem);
  return {
    node: element('li', {}, element('p', {}, element('b', {}, name), ': ', words), reasons),
    update(project, nowMs) {
      reasons.parentElement!.classList.toggle('bad', isRed(project.state));
      setText(name, clip(project.name, NAME_LENGTH_MAX));
      const head = headOf(project, nowMs);
      const why = whyOf(project);
      // One reason goes on in the same line: sixty projects shall fit on two screens.
      const isOne = why.length === 1;
      setWords(words, isOne ? [head, ' ', ...why[0]!.words] : [head]);
      showReasons(isOne ? [{ ...why[0]!, words: [] }] : why, nowMs);
    },
  };
}

function reasonItem(): View<Reason> {
  const why = element('p');
  const mend = command();
  return {
    node: element('div', { class: 'reason' }, why, mend.node),
    update(reason, nowMs) {
      why.hidden = reason.words.length === 0;
      setWords(why, reason.words);
      mend.update(reason.command, nowMs);
    },
  };
}

function headOf(project: ShownProject, nowMs: number): string {
  const { state, active, activity, refusals } = project;
  const from = sinceOf(project, nowMs);
  if (state === 'silent') {
    const { lastAcceptedMs = nowMs } = activity;
    return `${from}, for ${duration(nowMs - lastAcceptedMs)}, unlike yesterday.`;
  }
  const refused = refusals.reduce((sum, { lastHour }) => sum + lastHour, 0);
  const all = activity.lastHour + activity.refusedLastHour;
  const whole = all === 1 ? 'the only view' : `all ${countOf(all, 'view')}`;
  const many = state === 'all-refused' ? whole : `${number(refused)} of ${countOf(all, 'view')}`;
  const isLast = state === 'all-refused' && activity.lastAcceptedMs !== undefined;
  const last = isLast ? ` ${lastOf(activity, nowMs)}` : '';
  if (!active) return `inactive, and its pages still send; ${from}, ${many} of the last hour.`;
  return `${from}, ${many} of the last hour.${last}`;
}

/** `refused since about 14:15` */
function sinceOf({ state, activity }: ShownProject, nowMs: number): string {
  const { lastAcceptedMs, refusedByQuarter } = activity;
  if (state === 'silent') return `silent since ${since(lastAcceptedMs ?? nowMs, nowMs)}`;
  const refused = state === 'some-refused' ? 'partly refused' : 'refused';
  return `${refused} ${refusedSince(refusedByQuarter, nowMs)}`;
}

/** An hour without a refusal is an end of them. */
const GAP_QUARTERS = 4;

function refusedSince(refusedByQuarter: readonly number[], nowMs: number): string {
  const newestFirst = refusedByQuarter.toReversed();
  let ago = 0;
  let gap = 0;
  for (const [i, count] of newestFirst.entries()) {
    gap = count > 0 ? 0 : gap + 1;
    if (gap >= GAP_QUARTERS) break;
    if (count > 0) ago = i;
  }
  if (ago >= QUARTERS - GAP_QUARTERS) return 'for 24 hours, or longer';
  return `since about ${since(startOf(nowMs, QUARTERS - 1 - ago), nowMs)}`;
}

/** Each reason with its own number and command, the most frequent first. */
function whyOf(project: ShownProject): Reason[] {
  const { look, active } = project;
  if (look !== undefined) return [{ key: '', words: [look.text], command: look.command }];
  const reasons = reasonsOf(project.refusals);
  const left = reasons.slice(REASONS_MAX).reduce((sum, { lastHour }) => sum + lastHour, 0);
  const shown = reasons.slice(0, REASONS_MAX).map((reason): Reason => {
    const { code, lastHour } = reason;
    const why =
      reasons.length === 1 ? capital(REASONS[code]) : `${number(lastHour)} × ${REASONS[code]}`;
    const mend = code === 'project-not-activated' && active ? 'It is active by now.' : MENDS[code];
    const words = [why, ...exampleOf(reason), '. ', mend ?? ''];
    return { key: code, words, command: commandOf(reason) };
  });
  const words = [`${number(left)} for other reasons: see its row.`];
  return left === 0 ? shown : [...shown, { key: '', words, command: undefined }];
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What has to be known beside the command, or where there is none. */
const MENDS: Partial<Record<RefusalCode, string>> = {
  'invalid-view': 'Mend it in the page that sends it.',
  'project-not-activated': 'Take the script off its pages, or activate it again:',
  'rate-limited': 'This doubles its limit:',
  'storage-unavailable': 'Views are stored again.',
};

/** `, such as: mb must be an integer; received "12"`; what strangers sent stands apart. */
function exampleOf(reason: ShownRefusals): Words {
  const [issue] = reason.latest?.issues ?? [];
  if (issue !== undefined) return [', such as: ', { name: sentenceOf(issue) }];
  const [most] = byCount(reason);
  if (reason.code !== 'origin-not-allowed' || most === undefined) return [];
  if (most.origin === '') return [', sent without an Origin'];
  if (reason.origins.length === 1) return [', sent from ', { name: most.origin }];
  const isMost = 2 * most.count > reason.count;
  return [`, ${isMost ? 'most' : 'some'} of them from `, { name: most.origin }];
}

const commandOf = (reason: ShownRefusals): string | undefined =>
  reason.command ?? byCount(reason).find(({ command }) => command !== undefined)?.command;

const byCount = ({ origins }: ShownRefusals): readonly ShownOrigin[] =>
  origins.toSorted((a, b) => b.count - a.count);
