import { expect, it } from 'vitest';
import { ProjectList } from '../../src/projects/project-list.ts';
import type { RefusalCode } from '../../src/view/refusal.ts';
import { type Refused, type Remedy, remedyOf } from '../../src/view/remedy.ts';

const [ANY, LISTED, INACTIVE, LIMITED] = new ProjectList({
  projects: [
    { id: '1' },
    { id: '1', origins: ['https://a.example', 'https://*.b.example'] },
    { id: '1', active: false, origins: ['https://a.example'], maxViewsPerMinute: 60 },
    { id: '1', maxViewsPerMinute: 60 },
  ],
}).all();

const issue = (field: string) => ({ field, message: '', expected: '', received: '' });
const disk = (sizeBytes: number, freeBytes: number, minFreeBytes: number) => ({
  disk: { sizeBytes, freeBytes, minFreeBytes },
});
const isProjectsFileFaulty = true;

const activate = (isListed: boolean, ...origins: string[]): Remedy => ({
  kind: 'activate',
  id: '1',
  isListed,
  origins,
});
const add = (...origins: string[]): Remedy => ({ kind: 'add-origins', id: '1', origins });
const fixPage = (...fields: string[]): Remedy => ({ kind: 'fix-page', fields });

it.each<[string, RefusalCode, Omit<Refused, 'code' | 'id'>, Remedy | Remedy['kind']]>([
  ['an unlisted id', 'project-not-activated', {}, activate(false)],
  [
    'an unlisted id, with where its views come from',
    'project-not-activated',
    { origins: ['https://x.example', '', 'null'] },
    activate(false, 'https://x.example'),
  ],
  [
    'an inactive project, from another origin too',
    'project-not-activated',
    { project: INACTIVE, origins: ['https://a.example', 'https://x.example'] },
    activate(true, 'https://x.example'),
  ],
  ['a project active again', 'project-not-activated', { project: ANY }, 'fixed'],
  ['a faulty file', 'project-not-activated', { isProjectsFileFaulty }, 'fix-projects-file'],

  [
    'two origins that may be listed, and others',
    'origin-not-allowed',
    {
      project: LISTED,
      origins: ['https://x.example', 'null', '', 'https://w.b.example', 'http://y.example:81'],
    },
    add('https://x.example', 'http://y.example:81'),
  ],
  ['no Origin', 'origin-not-allowed', { project: LISTED, origins: [''] }, 'send-origin'],
  [
    'an origin that cannot be listed',
    'origin-not-allowed',
    { project: LISTED, origins: ['null', 'https://a;rm', 'file://'] },
    'none',
  ],
  ['origins that nobody knows', 'origin-not-allowed', { project: LISTED }, 'none'],
  [
    'an origin listed since',
    'origin-not-allowed',
    { project: LISTED, origins: ['https://a.example'] },
    'fixed',
  ],
  ['any origin allowed since', 'origin-not-allowed', { project: ANY, origins: [''] }, 'fixed'],
  [
    'an origin of a project deactivated since',
    'origin-not-allowed',
    { project: INACTIVE, origins: ['https://x.example'] },
    activate(true, 'https://x.example'),
  ],
  [
    'an origin, with a faulty file',
    'origin-not-allowed',
    { project: LISTED, origins: ['https://x.example'], isProjectsFileFaulty },
    'fix-projects-file',
  ],

  [
    'twice what is sent',
    'rate-limited',
    { project: LIMITED, sentPerMinute: 61.5 },
    { kind: 'raise-limit', id: '1', viewsPerMinute: 124 },
  ],
  [
    'a limit that is high enough now',
    'rate-limited',
    { project: LIMITED, sentPerMinute: 60 },
    'fixed',
  ],
  ['a limit removed since', 'rate-limited', { project: ANY, sentPerMinute: 61 }, 'fixed'],
  [
    'a project deactivated since',
    'rate-limited',
    { project: INACTIVE, sentPerMinute: 61 },
    'fixed',
  ],
  ['an unknown rate', 'rate-limited', { project: LIMITED }, 'none'],
  [
    'a limit, with a faulty file',
    'rate-limited',
    { project: LIMITED, sentPerMinute: 61, isProjectsFileFaulty },
    'fix-projects-file',
  ],

  [
    'every faulty field once',
    'invalid-view',
    { issues: ['mb', 'url', 'mb', ''].map(issue) },
    fixPage('mb', 'url', ''),
  ],
  ['unknown faults', 'invalid-view', { issues: [] }, 'explain-kept-view'],
  [
    'the line, not only the body',
    'view-too-large',
    { bytes: 32 * 1024 },
    { kind: 'raise-max-view', bytes: 64 * 1024 },
  ],
  ['a small one', 'view-too-large', { bytes: 100 }, { kind: 'raise-max-view', bytes: 1024 }],
  ['more than can be allowed', 'view-too-large', { bytes: 1024 * 1024 }, fixPage()],
  ['an unknown size', 'view-too-large', {}, 'none'],
  ['text that is not JSON', 'malformed-json', {}, fixPage()],
  ['a body cut off', 'malformed-json', { isCut: true }, 'check-proxy'],
  ['a body too late', 'request-timeout', {}, 'check-proxy'],
  ['another type', 'unsupported-media-type', {}, fixPage()],
  ['another path', 'not-found', {}, fixPage()],
  ['another method', 'method-not-allowed', {}, fixPage()],
  ['too many at once', 'overloaded', {}, 'none'],
  [
    'too little space',
    'storage-unavailable',
    disk(100, 7, 10),
    { kind: 'free-disk-space', bytes: 3 },
  ],
  ['no space', 'storage-unavailable', disk(100, 0, 0), { kind: 'free-disk-space', bytes: 1 }],
  ['a small disk', 'storage-unavailable', disk(9, 9, 10), { kind: 'lower-min-free', diskBytes: 9 }],
  ['another failure', 'storage-unavailable', disk(100, 10, 10), 'none'],
  ['a failure of an unknown disk', 'storage-unavailable', {}, 'none'],
])('the remedy for %s (%s)', (_, code, known, expected) => {
  const remedy = remedyOf({ code, id: '1', ...known });
  expect(typeof expected === 'string' ? remedy.kind : remedy).toStrictEqual(expected);
});

it('needs the id of a project for what is done to it', () => {
  const known = { origins: ['https://x.example'], sentPerMinute: 61 };
  expect(remedyOf({ code: 'project-not-activated' }).kind).toBe('none');
  expect(remedyOf({ code: 'origin-not-allowed', project: LISTED, ...known }).kind).toBe('none');
  expect(remedyOf({ code: 'rate-limited', project: LIMITED, ...known }).kind).toBe('none');
});
