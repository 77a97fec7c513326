import { formatCount, plural } from '../base/format.ts';
import { clip } from '../base/text.ts';
import type { Issue, RefusalCode } from '../view/refusal.ts';
import { reasonsOf, refusedOf } from './arrival.ts';
import type { Words } from './headline.ts';
import { isPlainOrigin } from './plain-origin.ts';
import { REASONS } from './reason-words.ts';
import type { ShownOrigin, ShownProject, ShownRefusals } from './shown-projects.ts';

// Why a project is in trouble, and what mends it.

const REASONS_MAX = 3;
const PAGE_LENGTH_MAX = 100;

/** Why, and what mends it. */
export interface Reason {
  readonly key: string;
  readonly words: Words;
  readonly command: string | undefined;
}

/** Of one project. */
interface Why extends Reason {
  /** Whose page sent the latest. */
  readonly page: string | undefined;
}

/** Each reason with its own number and command, the most frequent first. */
export function whyOf(project: ShownProject): Why[] {
  const { look, active } = project;
  if (look !== undefined) return [{ ...NO_REASON, words: [look.text], command: look.command }];
  const reasons = reasonsOf(project.refusals);
  const left = refusedOf(reasons.slice(REASONS_MAX));
  const shown = reasons.slice(0, REASONS_MAX).map((reason): Why => {
    const { code, lastHour } = reason;
    const command = commandOf(reason);
    const words = reasonOf(reason);
    const why = reasons.length === 1 ? capital(words) : `${formatCount(lastHour)} × ${words}`;
    const { [code]: mend = '' } = MENDS;
    const told = mend.endsWith(':') && command === undefined ? withoutCommand(reason) : mend;
    // That it is inactive has been said.
    const isSaid = reasons.length === 1 && code === 'project-not-activated' && !active;
    const all = isSaid ? [told] : [why, ...exampleOf(reason), '. ', told];
    return { key: code, words: all, page: pageOf(reason), command };
  });
  const words = [`${formatCount(left)} for other reasons: see its row.`];
  return left === 0 ? shown : [...shown, { ...NO_REASON, words }];
}

const NO_REASON: Why = { key: '', words: [], page: undefined, command: undefined };

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What has to be known beside the command, or where there is none. */
const MENDS: Partial<Record<RefusalCode, string>> = {
  'invalid-view': 'Mend it in the page that sends it.',
  'project-not-activated': 'Take the script off its pages, or activate it again:',
  'origin-not-allowed': 'If that is one of its sites, add it:',
  'rate-limited': 'If that was a flood, leave it; this doubles its limit:',
  'storage-unavailable': 'Views are stored again.',
};

/** No command has what a shell would read. */
const withoutCommand = ({ origins }: ShownRefusals): string =>
  origins.every(({ origin }) => isPlainOrigin(origin)) ? 'It is mended by now.' : '';

const reasonOf = ({ code, limit }: ShownRefusals): string =>
  limit === undefined ? REASONS[code] : `over its limit of ${plural(limit, 'view')} a minute`;

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

/** Of a view, as text that may be clipped. */
const URL_FIELD = /"url"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** The page that has to be mended, as the latest refused view names it. */
function pageOf({ code, latest }: ShownRefusals): string | undefined {
  if (code !== 'invalid-view') return undefined;
  const [, url] = URL_FIELD.exec(latest?.text ?? '') ?? [];
  return url && clip(`${latest?.origin ?? ''}${textOf(url)}`, PAGE_LENGTH_MAX);
}

function textOf(json: string): string {
  try {
    return JSON.parse(json) as string;
  } catch {
    return json;
  }
}

const commandOf = (reason: ShownRefusals): string | undefined =>
  reason.command ?? byCount(reason).find(({ command }) => command !== undefined)?.command;

const byCount = ({ origins }: ShownRefusals): readonly ShownOrigin[] =>
  origins.toSorted((a, b) => b.count - a.count);

const NO_TEXT = /\b(integer|boolean|array|object)$/;

export function sentenceOf({ field, message, received }: Issue): string {
  // What stands in quotes looks like the number that it should be.
  const kind = received.startsWith('"') && NO_TEXT.test(message) ? ', a string' : '';
  return `${field === '' ? 'the view' : field} ${message}; received ${received}${kind}`;
}
