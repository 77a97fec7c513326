import { expect, it } from 'vitest';
import { correctedOrigin } from '../../src/projects/origins.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import type { RefusalCode } from '../../src/view/refusal.ts';
import { type Refused, type Remedy, remedyOf } from '../../src/view/remedy.ts';

const A = 'https://a.example';
const X = 'https://x.example:81';
const [ANY, LISTED, INACTIVE, LIMITED, IDLE] = new ProjectList({
  projects: [
    { id: '1' },
    { id: '2', origins: [A, 'https://*.b.example'] },
    { id: '3', active: false, origins: [A], maxViewsPerMinute: 60 },
    { id: '4', maxViewsPerMinute: 60 },
    { id: '5', active: false },
  ],
}).all();

const sentTo = (project: Refused['project'], sentPerMinute?: number, limit = 60) => {
  return { project, sentPerMinute, limit };
};
const headerOf = (origin: string) => {
  return { project: LISTED, origin, meant: correctedOrigin(origin) };
};
const raised = (sent?: number, viewsPerMinute?: number): Remedy => {
  return { kind: 'raise-limit', limit: 60, sent, viewsPerMinute };
};
const faulty = { obstacle: 'projects-file' } as const;
const waiting: Remedy = { kind: 'wait', ...faulty };
const activate = (origin?: string, isListed = true, isOpen = false): Remedy => ({
  kind: 'activate',
  origin,
  isListed,
  isOpen,
});
const add: Remedy = { kind: 'add-origin', origin: X };
const meant = (origin: string, isAllowed: boolean): Remedy => {
  return { kind: 'correct-origin', meant: origin, isAllowed };
};
const bytes = (count: number): Remedy => ({ kind: 'raise-max-view', bytes: count });
type Known = Omit<Refused, 'code' | 'viewBytesMax'>;
type Case = [what: string, known: Known, expected: Remedy | Remedy['kind']];

const CASES: Partial<Record<RefusalCode, Case[]>> = {
  'project-not-activated': [
    ['an unlisted id', {}, activate(undefined, false)],
    ['an unlisted id with an origin', { origin: X }, activate(X, false)],
    [
      "an unlisted id with an origin that can't be listed",
      { origin: 'null' },
      activate(undefined, false),
    ],
    ['an inactive project with its own origin', { project: INACTIVE, origin: A }, activate()],
    ['an inactive project without origins', { project: IDLE }, activate(undefined, true, true)],
    ['an inactive project with another origin', { project: INACTIVE, origin: X }, activate(X)],
    ['an inactive project without its origin', { project: INACTIVE }, activate()],
    [
      'an inactive project with a sandboxed page',
      { project: INACTIVE, origin: 'null' },
      activate(),
    ],
    ['a project that is active again', { project: ANY }, 'fixed'],
    ['an invalid projects file', faulty, waiting],
  ],
  'origin-not-allowed': [
    ['an origin', { project: LISTED, origin: X }, add],
    ['no Origin', { project: LISTED }, 'send-origin'],
    ['a sandboxed page', { project: LISTED, origin: 'null' }, 'none'],
    ['an origin that a shell would interpret', { project: LISTED, origin: `${A};rm` }, 'none'],
    ['a listed origin with a slash', { ...headerOf(`${A}/`), ...faulty }, meant(A, true)],
    ['an origin with a path', headerOf(`${X}/blog`), meant(X, false)],
    ['an origin without a scheme', headerOf('a.example'), meant(A, true)],
    [
      'an origin with a path, and an invalid projects file',
      { ...headerOf(`${X}/blog`), ...faulty },
      waiting,
    ],
    ['an origin that has since been listed', { project: LISTED, origin: A }, 'fixed'],
    ['a project that now allows any origin', { project: ANY }, 'fixed'],
    ['a project that has since been deactivated', { project: INACTIVE, origin: X }, activate(X)],
    ['an invalid projects file', { project: LISTED, origin: X, ...faulty }, waiting],
  ],
  'rate-limited': [
    ['a full minute above the limit', sentTo(LIMITED, 62), raised(62, 124)],
    ['views on both sides of a minute boundary', sentTo(LIMITED, 31), raised(31, 62)],
    ["a busier minute that isn't full", sentTo(LIMITED, 30), raised(30)],
    ['no full minute of views', sentTo(LIMITED), raised()],
    ['a limit that has since been raised', sentTo(LIMITED, 62, 59), 'fixed'],
    ['a limit that has since been removed', sentTo(ANY, 61), 'fixed'],
    ['a project that has since been deactivated', sentTo(INACTIVE, 61), 'inactive'],
    ['an invalid projects file', { ...sentTo(LIMITED, 61), ...faulty }, waiting],
  ],
  'view-too-large': [
    ['a line that is too large', { bytes: 32 * 1024 }, bytes(64 * 1024)],
    ['a --max-view that has since been raised', { bytes: 100 }, 'fixed'],
    ['a body that no limit allows', { bytes: 1024 * 1024 }, 'fix-page'],
    ['an unknown size', {}, 'none'],
  ],
  'malformed-json': [
    ["text that isn't JSON", {}, 'fix-page'],
    ['a body that was cut off', { isCut: true }, { kind: 'check-proxy', bodyBytes: 65 * 1024 }],
  ],
  'invalid-view': [['a view with errors', {}, 'fix-page']],
  'request-timeout': [['a body that arrives too late', {}, 'check-proxy']],
  overloaded: [['too many requests', {}, 'none']],
};

const ROWS = Object.entries(CASES).flatMap(([code, cases]) =>
  cases.map(([what, known, expected]) => {
    const kind = typeof expected === 'string' ? expected : expected.kind;
    return [code as RefusalCode, what, kind, known, expected] as const;
  }),
);

it.each(ROWS)('the remedy for %s, given %s, is "%s"', (code, _, _kind, known, expected) => {
  const remedy = remedyOf({ code, viewBytesMax: 1024, ...known });
  expect(typeof expected === 'string' ? remedy.kind : remedy).toStrictEqual(expected);
});
