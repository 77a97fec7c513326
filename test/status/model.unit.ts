import * as v from 'valibot';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import { page } from '../../src/status/page.tsx';
import { spaceStep } from '../../src/status/problem-words.ts';
import { reasonKey, savedCounts } from '../../src/status/reasons.ts';
import { resentKey } from '../../src/status/resent.ts';
import { slicesOf } from '../../src/status/saved-counts.ts';
import { settle } from '../../src/status/state.ts';
import { Timeline } from '../../src/status/timeline.ts';
import { arrivingWords, headlineOf } from '../../src/status/words.ts';
import type { ProjectEntry } from '../../src/projects/projects-schema.ts';
import type { Dropped } from '../../src/store/store.ts';
import type { Refusal } from '../../src/view/refusal.ts';
import { NOON, Scene } from '../support/status-scene.ts';

// Tests the status page from the counts to its text, one situation per test.

const DAY = '2026-11-22';
const refusedDays = ['2026-11-21', DAY, '2026-11-23'];
const at = (clock: string): string => `${DAY} ${clock} UTC`;
const MiB = 2 ** 20;
const AURORA = { id: '1', name: 'Aurora', origins: ['https://aurora.example'] };
const MOVED = 'https://www.aurora.example';
const moved = { code: 'origin-not-allowed', project: '1' } as const;
const unlisted = (project: string) => ({ code: 'project-not-activated', project }) as const;
const VIEWLOG = '/srv/viewlog';
const FILES = '--data /data';
const REPLAY = `${VIEWLOG} replay /data/refused-${DAY}.ndjson ${FILES} --to http://127.0.0.1:8080 --project 1`;

const NAMELESS = { uid: 4711, gid: 4712, name: '#4711' };
const closedDirectory = { account: NAMELESS, owner: 'root', mode: 0o40750, isGivenAway: true };

/** A collector of Aurora and another project, with views arriving for both. */
function sceneOf(around: Scene['around'] = {}): Scene {
  const scene = new Scene([AURORA, { id: '2' }]);
  scene.around = around;
  scene.accept(1, '2', 0);
  return scene;
}

it('the status page shows a moved site as fixed if its second address is listed while views from the first arrive', () => {
  const scene = sceneOf();
  scene.refuse(2, moved, MOVED);
  scene.accept(9, '1', MINUTE_MS);
  scene.list({ ...AURORA, origins: [...AURORA.origins, MOVED] }, { id: '2' });
  expect(scene.text()).toContain('The cause is gone, but no view has been accepted since.');
  scene.accept(1, '1', MINUTE_MS);
  const fixed = `Views have been accepted since ${at('14:09')}.`;
  expect(scene.text()).toContain(fixed);
  // An edit of another project doesn't change when the views were accepted again.
  scene.nowMs += 5 * MINUTE_MS;
  scene.list({ ...AURORA, origins: [...AURORA.origins, MOVED] }, { id: '3' });
  expect(scene.text()).toContain(fixed);
});

it('the status page shows when counting began, if the collector has run for days', () => {
  const scene = new Scene([AURORA], NOON - 3 * DAY_MS);
  scene.counts.sinceMs -= DAY_MS;
  scene.accept();
  expect(scene.whole()).toMatch(/^Free disk: 8\.0 GiB \(estimate after one full day\)$/m);
  scene.around = { files: { bytesPerDay: 2 ** 30 } };
  expect(scene.whole()).toMatch(
    /\nLast view accepted 1 s ago\. viewlog restarted on 2026-11-19 14:00 UTC\. The counts began on 2026-11-18 14:00 UTC\.\n[^]*\nFree disk: 8\.0 GiB \(lasts 7 days\)\n[^]*\nWriting views-2026-11-22\.ndjson, 1\.2 KiB\. viewlog 0\.1\.0\.\n$/,
  );
});

describe('the status page shows the cause and the next step if', () => {
  it('a site has moved, until its new address is allowed', () => {
    const scene = sceneOf({ files: { refusedDays } });
    scene.refuse(69, moved, MOVED);
    expect(scene.text()).toBe(`Aurora: all refused (origin not allowed)
Aurora: all 69 views in the last hour were refused (origin not allowed). The refusals began on ${at('14:00')}.
  69 views were refused in the last 24 hours, most recently on ${at('14:01')} from ${MOVED}: origin not allowed.
  If ${MOVED} isn't one of the project's sites, ignore these views. If it is, add it:
    ${VIEWLOG} activate 1 ${FILES} --origin ${MOVED}
  69 refused views are stored. Once the project accepts ${MOVED}, send the views again:
    ${REPLAY}`);
    scene.list({ ...AURORA, origins: [MOVED] }, { id: '2' });
    expect(scene.text()).toContain('The cause is gone, but no view has been accepted since.');
    expect(scene.text()).not.toContain(`${VIEWLOG} activate`);
    scene.around = {
      ...scene.around,
      installation: { chosen: { 'max-view': { text: '64KiB', from: 'flag' } } },
    };
    expect(scene.text()).toMatch(/ replay .* --max-view 64KiB$/m);
    scene.around = { files: { refusedDays } };
    scene.nowMs += 5 * MINUTE_MS;
    scene.accept(2, '1', MINUTE_MS);
    expect(scene.text())
      .toBe(`Views are arriving from 2 of 2 active projects; earlier problems have ended
Aurora: the problem ended on ${at('14:06')}.
  69 views were refused in the last 24 hours, most recently on ${at('14:01')} from ${MOVED}: origin not allowed.
  Views have been accepted since ${at('14:06')}.
  69 refused views are stored. To send the views again:
    ${REPLAY}`);
  });

  it('a comma is missing in the projects file', () => {
    const fault = 'projects.json:3:2: expected "," (and 1 more fault)';
    const around = { fault: { first: fault, line: ['', ''] as const }, files: { refusedDays } };
    const scene = sceneOf(around);
    scene.refuse(1, unlisted('77'));
    expect(scene.text()).toBe(`The projects file is invalid; views are still arriving
The projects file has been invalid since ${at('14:00')}: ${fault}. viewlog continues with the last good list, but a restart would lose it and fail.
  Correct the file. Until then, activate and deactivate fail. To list every fault:
    ${VIEWLOG} check ${FILES}`);
    expect(scene.whole()).toMatch(
      /\n77\n.*\n {2}Once viewlog can use the projects file again, the fix will appear on the status page\.\n/,
    );
    // The other notices print no command that needs the projects file, whatever their reasons.
    scene.refuse(1, moved, MOVED);
    expect(scene.text()).toMatch(
      /^Aurora: all refused .*\n.* projects\.json:3:2: .*\n {2}Correct the/,
    );
    scene.accept();
    expect(scene.text()).toMatch(
      /^The projects file is invalid; Aurora: 50% refused .*\n.*\n.*\n.*\nAurora: 1 of 2 views /,
    );
    scene.refuse(1, { code: 'invalid-view', project: '2' }, MOVED, '{}');
    expect(scene.text()).toContain('Correct the page that sends these views.\n');
    scene.accept(9, '2', 10_000);
    scene.list({ id: '1' }, { id: '2' });
    scene.accept();
    expect(scene.whole()).not.toMatch(/srv\/viewlog (activate|replay|explain|snippet)/);
    const isNew = new Scene([]);
    isNew.around = around;
    expect(isNew.whole()).not.toMatch(/srv\/viewlog (activate|snippet)/);
  });

  it('the projects file was emptied', () => {
    const saved = { path: '/data/last-projects.json', restore: 'cp a b', projects: 2 };
    const scene = sceneOf({ fault: { first: 'projects.json is empty', loss: 'empty', saved } });
    expect(scene.text()).toMatch(
      /^The projects file is empty; views are still arriving\nThe projects file "\/data\/projects\.json" has been empty since .* list, saved in "\/data\/last-projects\.json", but a restart would fail\.\n {2}To restore it:\n {4}cp a b$/,
    );
  });

  it('the projects file was removed, and there is no copy', () => {
    const scene = sceneOf({ fault: { first: 'projects.json is gone', loss: 'missing' } });
    expect(scene.text()).toMatch(
      /^The projects file is missing; views are still arriving\nThe projects file "\/data\/projects\.json" has been missing since .* list, but a restart would lose it and fail\.\n {2}Restore the file from a backup, or write a new one .*\.\n {2}To read how to restore it:\n {4}\/srv\/viewlog help 'restore projects'$/,
    );
  });

  it('--min-free is more than the file system can have free', () => {
    const unavailable = 'too little free disk space';
    const store = { unavailable, unavailableSinceMs: NOON };
    const disk = { type: 0, freeBytes: 58 * MiB, sizeBytes: 60 * MiB, hasInodes: true };
    const scene = sceneOf({ store, files: { fileSystem: disk } });
    scene.list(AURORA, { id: '2' }, { id: '3', active: false });
    expect(scene.text()).toBe(`Every view is refused: too little free disk space
Views have been refused with 503 since ${at('14:00')}: too little free disk space.
  --min-free is 64 MiB (the default), but this file system can never have more than 60 MiB free. Start viewlog with --min-free 7MiB or use a larger disk.`);
    scene.around = { store, files: { fileSystem: { ...disk, sizeBytes: 999 * MiB } } };
    expect(scene.text()).toMatch(
      /58 MiB is free, but viewlog needs 72 MiB: --min-free, which is 64 MiB \(the default\), plus an eighth\. To free at least 14 MiB, delete view files .* again\. To list the files:\n {4}ls -lhS \/data$/,
    );
    const more = { ...disk, freeBytes: 67 * MiB, sizeBytes: 999 * MiB };
    scene.around = { store, files: { fileSystem: more } };
    expect(scene.text()).toContain('67 MiB is free, but viewlog needs 72 MiB: ');
    expect(scene.text()).toContain(' To free at least 5 MiB, delete ');
    const installation = { chosen: { 'min-free': { text: '64MiB', from: 'flag' } } } as const;
    scene.around = { ...scene.around, installation };
    expect(scene.text()).toMatch(
      / which is 64 MiB \(set on the command line\), .* Alternatively, start viewlog with a lower --min-free\. To list /,
    );
    expect(headlineOf(scene.model())[0]).toBe('red');
    expect(scene.whole()).toMatch(/ not stored {17}1 .* not stored {17}2 .* inactive {19}3 /s);
  });

  it('a proxy cuts bodies', () => {
    const scene = sceneOf();
    scene.accept(48);
    scene.refuse(5, { code: 'invalid-view', project: '1' });
    // The page reports no problem while at most one request in ten is refused.
    scene.refuse(6, { code: 'request-timeout' });
    expect(scene.text()).toBe('Views are arriving from 2 of 2 active projects');
    expect(scene.whole()).toContain(`
Requests without a project:
6 requests failed in the last 24 hours, most recently on ${at('14:00')}: body cut off.
  The latest refused body was incomplete`);
    expect(page({ model: scene.model(), open: new Set() })).toContain('<p>6 requests failed in ');
    scene.refuse(128, { code: 'malformed-json' }, MOVED, `{"p":"1",${' '.repeat(2000)}"pid"`);
    scene.refuse(250, { code: 'not-found' });
    scene.refuse(250, { code: 'method-not-allowed' });
    expect(scene.text()).toBe(`Requests: 71% failed (body cut off)
Requests without a project: 134 of 188 requests in the last hour failed before viewlog could read a project id (body cut off). The failures began on ${at('14:00')}.
  134 requests failed in the last 24 hours, most recently on ${at('14:03')} from ${MOVED}: body cut off.
  The latest refused body ended after 2,014 bytes, before its closing brace. If the page builds its JSON by hand, use JSON.stringify(view). Otherwise, the sender or a proxy cut the body off. A few such bodies are normal, because visitors leave pages early. If there is a proxy, let it pass on bodies of up to 80 KiB (nginx: client_max_body_size 80k; Caddy: max_size 80KiB in request_body), and allow each up to 10 s to arrive. To test the proxy with one real view, which reports show as /viewlog-doctor, replace the address after --url with the one that your pages post to:
    ${VIEWLOG} doctor ${FILES} --url https://views.example.com --project 1
  134 refused requests weren't stored: viewlog stores only whole JSON objects.`);
    scene.nowMs += 5_000;
    scene.accept(3, '1', 1000);
    expect(scene.text()).toContain(
      'cut off. Since then (8 min), 3 requests have been read, and none has failed for this reason.\n',
    );
    expect(headlineOf(scene.model())[0]).toBe('amber');
    // Small views don't show that large views arrive whole.
    scene.accept(100, '1', 10_000);
    expect(headlineOf(scene.model())[0]).toBe('amber');
    scene.nowMs += 2 * HOUR_MS;
    scene.refuse(1, { code: 'malformed-json' }, MOVED, '{"p":1,} ');
    const broken = 'Requests: all failed (malformed JSON)';
    expect(headlineOf(scene.model())).toStrictEqual(['amber', broken]);
    scene.nowMs += 2 * HOUR_MS;
    scene.refuse(1, { code: 'malformed-json' }, MOVED, '{"p":"1');
    expect(scene.text()).toContain(
      'body cut off.\n  The latest body:\n    {"p":"1\n  The latest refused body ended after 7 bytes',
    );
  });

  it.each([
    ['an unknown number of bytes', undefined, ''],
    ['0 bytes', 0, ' (0 bytes)'],
    ['1,234 bytes', 1_234, ' (1,234 bytes)'],
  ])('a body ends early, after %s', (_, bytes, size) => {
    const scene = sceneOf();
    scene.refuse(9, { code: 'request-timeout', ...(bytes !== undefined && { bytes }) });
    const late = `The latest refused body was incomplete${size} when its connection ended or 10 s had passed.`;
    expect(scene.text()).toContain(
      `${late} A few such bodies are normal, because visitors leave pages early. If there is a proxy`,
    );
  });

  it("a page's script or a proxy uses a wrong path", () => {
    const scene = sceneOf();
    // A request without an Origin doesn't come from a page.
    scene.refuse(99, { code: 'not-found' });
    expect(scene.text()).toBe('Views are arriving from 1 of 2 active projects');
    expect(scene.whole()).toContain(
      '  not found, without an Origin header (not counted) (20 times)\n',
    );
    const detail = 'There is nothing at /views; send views to /view.';
    scene.refuse(9, { code: 'not-found', detail }, MOVED);
    expect(scene.text()).toBe(`Requests: 90% failed (not found)
Requests without a project: 9 of 10 requests in the last hour failed before viewlog could read a project id (not found). The failures began on ${at('14:01')}.
  9 requests failed in the last 24 hours, most recently on ${at('14:01')} from ${MOVED}: not found (there is nothing at /views).
  Have the pages send to /view. If they already do, a proxy is changing the path. To see how to configure it:
    ${VIEWLOG} help proxies
  9 refused requests weren't stored: viewlog stores only views sent to /view.`);
    expect(scene.whole()).toContain('\nRefused: 9 ');
  });

  it('views were refused during an outage and for another cause', () => {
    const scene = sceneOf();
    scene.refuse(32, { code: 'storage-unavailable', project: '1' });
    scene.refuse(2, moved, MOVED);
    scene.accept(11);
    expect(scene.text()).toMatch(
      /^Aurora: 15% refused \(origin not allowed\)\nAurora: 2 of 13 views in the last hour were refused \(origin not allowed\), not counting 32 refused because of an earlier problem that has ended\. The refusals began on/,
    );
    scene.around = { store: { unavailable: 'x' } };
    const during =
      'Aurora: 2 of 13 views in the last hour were refused (origin not allowed), not counting 32 during the outage.';
    expect(scene.text()).toContain(during);
    // The origin is added, but the store still refuses views.
    scene.list({ ...AURORA, origins: [MOVED] }, { id: '2' });
    scene.accept();
    scene.refuse(9, { code: 'invalid-view', project: '1' });
    expect(scene.text()).toContain(
      '9 of 21 views in the last hour were refused (invalid view), not counting 2 refused because of an earlier problem that has ended and 32 during the outage.',
    );
  });

  it('pages of several sites send wrong types, and one is redirected', () => {
    const scene = sceneOf();
    const type = 'The body was sent as "text/plain". Send it as plain application/json.';
    scene.refuse(4, { code: 'unsupported-media-type', detail: type }, MOVED);
    scene.refuse(1, { code: 'unsupported-media-type', detail: type }, 'https://b.example');
    scene.refuse(2, { code: 'method-not-allowed' }, MOVED);
    scene.refuse(9, { code: 'method-not-allowed' });
    expect(scene.text()).toContain(
      "2 refused requests weren't stored: viewlog stores only views sent with POST.",
    );
    expect(scene.text())
      .toContain(`  5 requests failed in the last 24 hours. The latest came on ${at('14:00')} from https://b.example: unsupported media type (the body was sent as "text/plain").
  Another case, most recently on ${at('14:00')} from ${MOVED}: unsupported media type (the body was sent as "text/plain").
  Send views uncompressed, as application/json in UTF-8. With sendBeacon, put the view in a Blob of that type.
`);
    expect(scene.text())
      .toContain(`  2 requests failed in the last 24 hours, most recently on ${at('14:00')} from ${MOVED}: method not allowed (Refused).
  Have the pages post to the final address, the one after any redirect. A redirect, for example from http to https, can turn a POST into a GET. To read more:
    ${VIEWLOG} help 405
`);
  });

  it('a page sends an object as text', () => {
    const scene = sceneOf();
    const detail = 'Line 1, column 2: expected a value; found "o\u001b". Use JSON.stringify(view).';
    scene.refuse(9, { code: 'malformed-json', detail }, MOVED, `[o\u001b${'x'.repeat(999)}`);
    expect(scene.text()).toContain(
      String.raw`from ${MOVED}: malformed JSON (line 1, column 2: expected a value).
  The latest body:
    [o\u001b${'x'.repeat(96)}…
  Correct the page`,
    );
  });

  it("a file can't be opened or written", () => {
    const [opening, writing] = ["the view file can't be opened", 'the disk is full'];
    const why = 'Can\'t write "/data/v": EFBIG: file too large; raise the limit';
    const store = { unavailable: writing, unavailableSinceMs: NOON, detail: why };
    const scene = sceneOf({ store });
    const text = `Every view is refused: the view file can't be written
Views have been refused with 503 since ${at('14:00')}: ${why}.
  Once writes succeed, viewlog accepts views again. To check the directory:
    ${VIEWLOG} doctor ${FILES}`;
    expect(scene.text()).toBe(text);
    scene.around = { store: { ...store, unavailable: opening } };
    expect(scene.text()).toBe(text.replace('written', 'opened'));
    const disk = { type: 0, freeBytes: 80 * MiB, sizeBytes: 90 * MiB, hasInodes: false };
    scene.around = { store, files: { fileSystem: disk } };
    expect(scene.text()).toMatch(
      /^Every view is refused: the view file can't be written\n.*\n {2}The file system has no /,
    );
    scene.around = { store, files: { fileSystem: { ...disk, freeBytes: 0 } } };
    expect(scene.text()).toMatch(
      /^Every view is refused: the disk is full\n.* "\/data\/v": EFBIG: file too large\.\n {2}No space is free/,
    );
    const none = {
      sizeBytes: MiB,
      freeBytes: 0,
      missingBytes: 4096,
      hasInodes: true,
      daysLeft: undefined,
    };
    const chosen = { 'min-free': { text: '0', from: 'flag' } } as const;
    const { text: free } = spaceStep(none, { ...scene.model().installation, chosen }, 0)!;
    expect(free).toMatch(/^No space is free\. Delete .* accepts views again\. To list the files:$/);
  });

  it("viewlog owns its data directory but can't write there", () => {
    const closed = { ...closedDirectory, owner: NAMELESS.name, isGivenAway: false };
    const installation = { owners: { data: NAMELESS } };
    const scene = sceneOf({ files: { closedDirectory: closed }, installation });
    expect(scene.text().split('\n').slice(2)).toStrictEqual([
      '  Let this account write there:',
      '    sudo setpriv --reuid=4711 --regid=4712 --clear-groups -- chmod u+rwx /data',
    ]);
  });

  it('the data directory no longer belongs to viewlog', () => {
    const fault = { first: "/data/projects.json can't be read" };
    const scene = sceneOf({ files: { closedDirectory, refusedDays }, fault });
    scene.refuse(9, moved, MOVED);
    const title =
      "The data directory \"/data\" belongs to root and has mode 0750. viewlog runs as #4711, which can't create files there. Today's views are still stored, but viewlog can't begin the next day's file or start again.";
    expect(scene.text().split('\n').slice(1, 4)).toStrictEqual([
      title,
      "  Make #4711 the owner of the directory and of viewlog's files in it:",
      '    sudo chown -R 4711:4712 /data',
    ]);
    expect(scene.whole()).not.toContain('projects file');
    const store = { unavailable: 'x', detail: 'y' };
    scene.around = { ...scene.around, store };
    expect(scene.text().split('\n')[1]).toBe(
      title.replace(/\. Today.*/, ", so viewlog refuses views and can't start again."),
    );
    expect(scene.whole()).not.toMatch(/srv\/viewlog doctor/);
    // Today's file is open, so views are still arriving.
    const open = sceneOf({ files: { closedDirectory } });
    expect(headlineOf(open.model())).toStrictEqual([
      'amber',
      "viewlog can't create files in its data directory; views are still arriving",
    ]);
    scene.around = { ...scene.around, installation: { projects: '/etc/projects.json' } };
    expect(scene.whole()).toContain("projects.json can't be read");
    const isGivenAway = false;
    scene.around = { files: { closedDirectory: { ...closedDirectory, isGivenAway }, refusedDays } };
    expect(scene.whole()).not.toContain('chown');
    expect(scene.whole()).not.toMatch(/srv\/viewlog (activate|replay)/);
  });

  it('a project sends more than its limit', () => {
    const scene = new Scene([{ id: '1', maxViewsPerMinute: 20 }, { id: '2' }]);
    scene.accept(20, '1', 0);
    scene.refuse(130, { code: 'rate-limited', project: '1', limit: 20 }, undefined, undefined, 0);
    const limit = "The project's limit is 20 views per minute";
    expect(scene.text()).toContain(
      `${limit}. Within two minutes, once viewlog has counted a full minute of views, a suggested limit will appear on the status page.`,
    );
    scene.nowMs += MINUTE_MS;
    expect(scene.text()).toContain(`Project 1: 87% refused (rate limited)
Project 1: 130 of 150 views in the last hour were refused (rate limited). The refusals began on ${at('14:00')}.
  130 views were refused in the last 24 hours, most recently on ${at('14:00')}: rate limited.
  ${limit}, and 150 were sent in the busiest minute. Unless this is a flood, raise the limit to twice that rate:
    ${VIEWLOG} activate 1 ${FILES} --max-views-per-minute 300
  130 refused views weren't stored: viewlog stores no views over a project's limit.`);
    scene.list({ id: '1', maxViewsPerMinute: 300 }, { id: '2' });
    scene.accept();
    expect(scene.text()).toContain(
      `rate limited.\n  Views have been accepted since ${at('14:01')}.`,
    );
  });

  it('a page sends views with two errors', () => {
    const scene = sceneOf({ files: { refusedDays } });
    const issues = [
      { field: 'mb', message: 'must be an integer', expected: 'integer', received: '"12"' },
      { field: 'url', message: 'must start with "/"', expected: 'path', received: '"home"' },
    ];
    const text = '{"p":"1","url":"home"}';
    scene.refuse(2, { code: 'invalid-view', project: '1', issues }, 'https://a.example', text);
    expect(scene.text()).toBe(`Aurora: all refused (invalid view)
Aurora: both views in the last hour were refused (invalid view). The refusals began on ${at('14:00')}.
  2 views were refused in the last 24 hours, most recently on ${at('14:00')} from https://a.example: "mb" must be an integer (received "12"); "url" must start with "/" (received "home").
  Correct the page that sends these views. To check a corrected view, change it in this command:
    printf %s '${text}' | ${VIEWLOG} explain ${FILES} --origin https://a.example
  2 refused views are stored. A replay wouldn't help: viewlog would refuse the views again.`);
    const other = [
      { field: 'hc', message: 'is required', expected: 'boolean', received: 'nothing' },
    ];
    const from = '{"url":"/shop"}';
    scene.refuse(1, { code: 'invalid-view', project: '1', issues: other }, undefined, from);
    expect(scene.text()).toContain(`: "hc" is required.
  Correct the page "/shop". To check a corrected view, change it in this command:
    printf %s '${from}' | ${VIEWLOG} explain ${FILES}
  Another case, most recently on ${at('14:00')} from https://a.example: "mb" must be an integer (received "12"); "url" must start with "/" (received "home").
  Correct the page that sends these views. To check a corrected view, change it in this command:
    printf %s '${text}' | ${VIEWLOG} explain ${FILES} --origin https://a.example
  3 refused views are stored.`);
    scene.around = {
      ...scene.around,
      installation: { chosen: { 'max-view': { text: '64KiB', from: 'flag' } } },
    };
    expect(scene.text()).toContain(`viewlog explain ${FILES} --max-view 64KiB`);
    const unknown = {
      field: 'f',
      message: 'isn\'t a field of a view (did you mean "cf"?)',
      expected: 'cf',
      received: '6',
    };
    scene.refuse(1, { code: 'invalid-view', project: '1', issues: [unknown] }, undefined, from);
    const isFull = '\n  These are the latest four cases; there may be others.\n';
    expect(scene.text()).not.toContain(isFull);
    const fourth = [{ ...unknown, field: 'g' }];
    scene.refuse(1, { code: 'invalid-view', project: '1', issues: fourth }, undefined, from);
    expect(scene.text()).toContain(isFull);
    scene.refuse(1, { code: 'invalid-view', project: '1', issues: [unknown] }, undefined, from);
    expect(scene.text()).toContain(
      `: "f" isn't a field of a view (received 6; did you mean "cf"?).\n`,
    );
  });

  it('more unlisted ids send views than it lists', () => {
    const scene = sceneOf({ files: { refusedDays } });
    scene.accept(99);
    for (let id = 11; id < 36; id++) scene.refuse(1, unlisted(String(id)));
    expect(scene.whole()).toContain('\n\nUnlisted ids in the last 24 hours (20 of 25):\n');
  });

  it('more projects have problems than it shows', () => {
    const scene = sceneOf({ files: { refusedDays } });
    const ids = Array.from({ length: 13 }, (_, i) => String(i + 1));
    scene.list(...ids.map((id) => ({ id })));
    for (const id of ids) scene.refuse(1, { code: 'invalid-view', project: id });
    expect(scene.text()).toMatch(/; 10 more problems\n/);
    expect(scene.text()).toMatch(/\n3 more problems: see below\.$/m);
    for (const id of ids) scene.accept(1, id);
    scene.list({ id: '99', name: 'Other' });
    for (const id of ids) scene.refuse(1, unlisted(id));
    expect(scene.text()).toMatch(/\n3 more problems: see below\.$/m);
    const below = scene.whole().split('\n\nUnlisted ids in the last 24 hours:\n')[1]!;
    expect(below.match(/^\d+$/gm)).toHaveLength(3);
  });

  it('the only listed project has sent no view, but a removed id has sent some', () => {
    const scene = new Scene([{ id: '1' }]);
    scene.accept(70);
    scene.list({ id: '2', name: 'Other' });
    expect(scene.whole()).toMatch(/^No view accepted from Other yet\nLast view accepted 1 s ago\./);
  });

  it("an inactive project's origins would refuse the views after it is activated", () => {
    const scene = sceneOf({ files: { refusedDays } });
    scene.list({ id: '3', active: false, origins: [MOVED] });
    scene.refuse(2, unlisted('3'), 'null');
    expect(scene.text()).toContain(
      "2 refused views are stored. A replay wouldn't help: the project would refuse the views again, because their origin isn't listed.",
    );
    scene.refuse(1, unlisted('3'), MOVED);
    expect(scene.text()).toContain(
      '1 refused view is stored. Once the project is active, send the view again:',
    );
    expect(scene.text()).toContain("2 refused views are stored. A replay wouldn't help:");
  });

  it('several projects have problems', () => {
    const scene = sceneOf({ files: { refusedDays } });
    scene.list(AURORA, { id: '2' }, { id: '3', active: false }, { id: '4' }, { id: '5' });
    scene.accept(5, '5');
    scene.refuse(1, { code: 'view-too-large', project: '5', bytes: 40_000 });
    scene.refuse(9, { code: 'invalid-view', project: '4' });
    scene.refuse(1, { code: 'origin-not-allowed', project: '1' });
    scene.refuse(99, unlisted('3'), MOVED);
    expect(scene.text()).toMatch(
      /^Project 4: all refused \(invalid view\); Aurora: all refused \(no Origin header\); Project 3: inactive but sending; 1 more problem\n/,
    );
    expect(scene.model().projects.map(({ id }) => id)).toStrictEqual(['4', '1', '3', '5', '2']);
    expect(scene.text()).toContain(`
Aurora: its only view in the last hour was refused (no Origin header). The refusals began on ${at('14:00')}.
  1 view was refused in the last 24 hours, on ${at('14:00')} without an Origin header.
  The project accepts only its listed origins, so it refuses views without an Origin header. Browsers send the header, and a proxy must pass it on. A program must send the header with one of the project's origins, or use the id of a project without origins. To test the proxy with one real view, which reports show as /viewlog-doctor, replace the address after --url with the one that your pages post to:
    ${VIEWLOG} doctor ${FILES} --url https://views.example.com --project 1
  1 refused view is stored. A replay wouldn't help: the project would refuse the view again, because it has no Origin header.
Project 3 (inactive but sending): all 99 views in the last hour were refused. The refusals began on ${at('14:00')}.
  99 views were refused in the last 24 hours, most recently on ${at('14:01')} from ${MOVED}: the project is inactive.
  If you don't want to count this site, remove the script from its pages. To count it, activate the project, which then accepts views from every site:
    ${VIEWLOG} activate 3 ${FILES}
  99 refused views are stored. Once the project is active, send the views again:`);
    expect(scene.text()).toContain('Send smaller views or restart viewlog with --max-view 64KiB.');
  });

  it('a project is silent', () => {
    const scene = new Scene([AURORA, { id: '2' }], NOON - 2 * DAY_MS);
    scene.nowMs = NOON - DAY_MS - 2 * HOUR_MS;
    scene.accept(25);
    scene.nowMs = NOON - 5 * HOUR_MS;
    scene.accept();
    scene.nowMs = NOON;
    expect(scene.text()).toBe(`Aurora: no views for 3 hours
Aurora: no views accepted in the last 3 hours (25 in the same hours the day before). The last view was accepted on ${at('09:00')}.
  Check that the site's pages still contain the script and that their Content-Security-Policy allows it. To test the path to viewlog, replace the address after --url with the one that your pages post to:
    ${VIEWLOG} doctor ${FILES} --url https://views.example.com`);
    scene.nowMs = NOON - 1.5 * HOUR_MS;
    expect(scene.text()).toMatch(/^Aurora: no views for 3 hours\n/);
    scene.nowMs = NOON - 3 * HOUR_MS;
    expect(scene.text()).toBe('Quiet: no views from active projects in the last hour');
    scene.nowMs = NOON - 2 * HOUR_MS;
    scene.refuse(1, moved, MOVED);
    scene.nowMs = NOON;
    expect(scene.text()).toMatch(
      /\n {2}Check that .* allows it\. Some .* to see why, open the project's row on the status page\. To test /,
    );
    scene.accept();
    expect(scene.text()).toBe('Views are arriving from 1 of 2 active projects');
  });

  it('the collector is new', () => {
    const scene = new Scene([]);
    expect(scene.text()).toMatch(`No project is active, so every view is refused
To get the first view
  Activate a project, with your own id and your site's address:
    ${VIEWLOG} activate 1000001 ${FILES} --origin https://www.example.com
  To print the script for the project's pages, replace the address after --url with the one at which browsers reach viewlog, and run:
    ${VIEWLOG} snippet 1000001 ${FILES} --url https://views.example.com
  Or send a test view from this machine (it counts like any other view):
    curl http://127.0.0.1:8080/view -H 'Content-Type`);
    scene.list({ id: '1', active: false });
    expect(scene.text()).toContain(
      `\n  Activate the project:\n    ${VIEWLOG} activate 1 ${FILES}\n`,
    );
    scene.list({ id: '1' });
    expect(scene.text()).toMatch(/^Waiting for the first view\n/);
    expect(scene.text()).not.toContain('activate');
    scene.accept();
    expect(scene.text()).toBe('Views are arriving from Project 1');
  });

  it('old files are overdue and a stop is near', () => {
    const overdue = ['views-2026-01-01.ndjson', 'refused-2026-01-02.ndjson'];
    const scene = sceneOf({ files: { overdue }, isStopping: true, store: { freeBytes: 65 * MiB } });
    expect(scene.text()).toBe(`Views are arriving from 1 of 2 active projects
2 files are older than --keep-days or --keep-refused-days allows.
  Each hour, viewlog removes one day of such files. To remove these files now:
    rm /data/views-2026-01-01.ndjson /data/refused-2026-01-02.ndjson
viewlog is about to stop but accepts views until then.
Free disk space (65 MiB) is below 128 MiB, which is twice --min-free, so viewlog no longer stores refused views.
  Free some space or lower --min-free.`);
    const many = Array.from({ length: 21 }, (_, i) => `views-2026-01-${i + 10}.ndjson`);
    scene.around = { files: { overdue: many } };
    expect(scene.text()).toMatch(/\n21 files are .* To remove the oldest 20 now:\n.*-29\.ndjson$/s);
  });

  it("the cluster can't be reached", () => {
    const seen = { messages: 7, bytes: 700, leader: 'n1', replicas: 3, lagging: [] };
    const stream = { name: 'VIEWS', server: '127.0.0.1:4222', seen, warnings: [] };
    const scene = sceneOf({ store: { stream } as object });
    expect(scene.whole()).toContain(
      `The counts began on ${at('14:00')}, for this collector alone; other views are in the stream.`,
    );
    const restarted = new Scene([AURORA]);
    restarted.around = { store: { stream } as object };
    expect(restarted.text()).toBe('No view accepted since the counts began');
    const none = { ...stream, seen: { ...seen, messages: 0 } };
    restarted.around = { store: { stream: none } as object };
    expect(restarted.whole()).toContain(', for this collector alone.\n');
    expect(restarted.text()).toMatch(/^Waiting for the first view\n/);
    expect(scene.whole()).toContain('\nStream: 7 messages (VIEWS, 127.0.0.1:4222, led by n1)\n');
    const gone = { stream: { ...stream, server: undefined }, unavailable: 'no connection' };
    scene.around = { store: { ...gone, unavailableSinceMs: NOON } };
    expect(scene.text()).toBe(`Every view is refused: no connection
Views have been refused with 503 since ${at('14:00')}: no connection.`);
    expect(scene.whole()).toContain('(VIEWS, not connected, led by n1)');
    // A stream can refuse views although viewlog is connected.
    scene.around = { store: { stream, unavailable: 'the stream has no leader' } as object };
    expect(scene.text()).toMatch(/\nViews are refused with 503: the stream has no leader\.$/);
    const warnings = ['Stream VIEWS is stored on 1 server; if there are 3, run: nats stream edit'];
    scene.around = { store: { stream: { ...stream, warnings } } as object };
    expect(scene.text()).toMatch(
      /\nStream VIEWS is stored on 1 server\.\n {2}If there are 3, run:\n {4}nats stream edit$/,
    );
  });
});

it('the status page shows an unlisted id until it is activated, with the command that replays its refused views', () => {
  const scene = sceneOf({ files: { refusedDays } });
  scene.refuse(1, unlisted('1000010'), 'https://a;b');
  scene.refuse(9, unlisted('77'), 'https://x.example');
  const again = `
  9 refused views are stored. Once the project accepts https://x.example, send the views again:
    ${REPLAY.replace('--project 1', '--project 77')}
`;
  expect(scene.whole()).toContain('. Views of 2 unlisted ids were refused (see below).\n');
  expect(scene.whole()).toContain(`Unlisted ids in the last 24 hours:
77
  9 views were refused in the last 24 hours, most recently on ${at('14:00')} from https://x.example: the projects file doesn't list this id.
  If this site isn't yours, ignore these views. If it is, correct the id in its script, or remove the script. To count the site under this id, activate the project:
    ${VIEWLOG} activate 77 ${FILES} --origin https://x.example${again}1000010
`);
  // No command allows an odd Origin.
  expect(scene.whole()).toContain(`    ${VIEWLOG} activate 1000010 ${FILES}\n`);
  scene.list(AURORA, { id: '2' }, { id: '77', name: 'New' });
  expect(scene.text()).toMatch(/^New: fixed, waiting for a view\n/);
  expect(headlineOf(scene.model())[0]).toBe('amber');
  expect(scene.text()).toContain('The cause is gone, but no view has been accepted since.');
  const now = again.replace('Once the project accepts https://x.example,', 'To');
  expect(scene.whole()).toContain(now);
  scene.accept(1, '77');
  expect(scene.text()).toMatch(
    /^Views are arriving from 2 of 3 active projects; earlier problems have ended\nNew: the problem ended/,
  );
  expect(scene.whole()).toContain(now);
  expect(scene.whole()).toMatch(/ 9 {3}arriving {19}77 {2}New\n/);
  const entry = { name: "Jo's", origins: ['https://x.example', MOVED], maxViewsPerMinute: 500 };
  scene.list(AURORA, { id: '2' }, { id: '77', ...entry, contact: 'a@b.example' });
  scene.list(AURORA, { id: '2' });
  scene.refuse(9, unlisted('77'), 'https://x.example');
  expect(scene.text()).toContain(`
  Project 77 was in the projects file; its last view was accepted on ${at('14:00')}. If you removed the project on purpose, remove the script from its pages. If its id was changed by mistake, change it back in the projects file. If its entry was removed by mistake, add the entry again:
    ${VIEWLOG} activate 77 ${FILES} --name 'Jo'\\''s' --origin https://x.example --origin ${MOVED} --contact a@b.example --max-views-per-minute 500
`);
  // viewlog doesn't remember the entry.
  scene.projects = new ProjectList({ projects: [AURORA, { id: '2' }] });
  expect(scene.text())
    .toContain(`Project 77 (no longer listed): 9 of 10 views in the last hour were refused, not counting 9 refused because of an earlier problem that has ended. The refusals began on ${at('14:00')}.
  Project 77 was in the projects file; its last view was accepted on ${at('14:00')}. If you removed the project on purpose, remove the script from its pages. If its entry was removed or its id was changed by mistake, restore the entry in the projects file. To add a new entry instead, with only https://x.example as its origin and without the old name and limit:
    ${VIEWLOG} activate 77 ${FILES} --origin https://x.example
  18 views were refused in the last 24 hours, most recently on ${at('14:00')} from https://x.example: the projects file doesn't list this id.${again.trimEnd().replace('9 refused', '18 refused')}`);
  scene.refuse(1, { code: 'origin-not-allowed', project: '77' }, MOVED);
  expect(scene.text().match(/activate 77 .*/g)).toStrictEqual([
    `activate 77 ${FILES} --origin https://x.example`,
  ]);
  scene.around = { ...scene.around, fault: {} };
  expect(scene.text()).toMatch(/ from its pages\. .* restore the entry in the projects file\.\n/);
  scene.around = { files: { refusedDays } };
  expect(arrivingWords(scene.model())).toStrictEqual([200, 'Project 77: no longer listed']);
  expect(scene.whole()).not.toContain('\n77\n');
  scene.refuse(20, unlisted('77'), 'https://x.example');
  expect(arrivingWords(scene.model())[0]).toBe(503);
  scene.nowMs += DAY_MS;
  expect(scene.whole()).not.toContain('Unlisted id');
});

it('the status page warns for a day if an edit opened a project to every site', () => {
  const scene = sceneOf();
  scene.list(AURORA, { id: '2', origins: [MOVED] }, { id: '3', origins: [MOVED] });
  scene.list(AURORA, { id: '2' }, { id: '3', origins: [MOVED], active: false });
  const warning = `Project 2 no longer lists origins, so it accepts views from every site.
  If that is a mistake, run:
    ${VIEWLOG} activate 2 ${FILES} --origin ${MOVED}
`;
  expect(`${scene.text()}\n`).toContain(warning);
  expect(scene.text()).not.toContain('Project 3');
  expect(headlineOf(scene.model())).toStrictEqual([
    'amber',
    'Project 2 accepts views from every site; views are arriving from 1 of 2 active projects',
  ]);
  // It is named beside other problems, too, and nothing calls it a fix.
  scene.refuse(1, { ...moved, project: '2' }, 'https://evil.example');
  // Those views would be refused again, so their problem hasn't ended.
  scene.list(AURORA, { id: '2', origins: [MOVED] });
  expect(scene.text()).toContain(
    "If https://evil.example isn't one of the project's sites, ignore these views. If it is, add it:",
  );
  scene.list(AURORA, { id: '2', origins: [MOVED], name: 'Kelp' });
  scene.list(AURORA, { id: '2', name: 'Kelp' });
  expect(scene.text()).toContain('\nKelp no longer lists origins, so it accepts views from ');
  scene.list(AURORA, { id: '2', origins: [MOVED] });
  expect(scene.text()).not.toContain('no longer lists');
  scene.refuse(8, { ...moved, project: '2' }, 'https://evil.example');
  scene.list(AURORA, { id: '2' });
  expect(headlineOf(scene.model())).toStrictEqual(['amber', 'Project 2: origins lost']);
  expect(scene.text()).toContain(
    `  viewlog would accept such views now, but only because the project no longer lists origins. If they were removed by mistake, restore them before you replay any views:\n    ${VIEWLOG} activate 2 ${FILES} --origin ${MOVED}\n`,
  );
  scene.around = { files: { refusedDays } };
  const replay =
    '9 refused views are stored. If you removed the origins on purpose, send the views again:';
  expect(scene.text()).toContain(replay);
  // A replay sends the project's views of every origin.
  const [before] = scene.text().split(replay);
  expect(before).toContain('Project 2 no longer lists origins');
  // An accepted view proves nothing while views of every site are accepted.
  scene.accept(30, '2');
  expect(scene.text()).toContain(replay);
  expect(headlineOf(scene.model())[1]).toBe('Project 2: origins lost');
  scene.accept(60, '2');
  expect(headlineOf(scene.model())[1]).toMatch(/^Project 2 accepts views from every site; views /);
  expect(scene.text()).not.toContain('ended');
  // The list in use stays open while its file is invalid.
  scene.around = { fault: { line: ['', ''] } };
  expect(headlineOf(scene.model())[1]).toMatch(/; Project 2 accepts views from every site$/);
  expect(scene.text()).toContain(
    '\nProject 2 no longer lists origins, so it accepts views from every site.\n  Restore them in the projects file.',
  );
  expect(scene.text()).not.toContain(' activate 2 ');
  scene.around = {};
  scene.list(AURORA, { id: '2', origins: [MOVED] });
  scene.list(AURORA, { id: '2' });
  scene.nowMs += DAY_MS + 1;
  expect(scene.text()).not.toContain('no longer lists');
});

it("a replay of views that lost origins don't keep out waits for the right origins", () => {
  const scene = sceneOf({ files: { refusedDays } });
  scene.list(AURORA, { id: '2', origins: [MOVED], active: false });
  scene.refuse(2, unlisted('2'), MOVED);
  scene.list(AURORA, { id: '2', origins: [MOVED] });
  scene.list(AURORA, { id: '2' });
  expect(scene.text()).toContain(
    '2 refused views are stored. Once the project has the origins that you want, send the views again:',
  );
});

it('after a replay whose accepted views a crash has forgotten, the page says only that the cause is gone', () => {
  const scene = sceneOf();
  scene.refuse(2, moved, MOVED);
  scene.list({ ...AURORA, origins: [MOVED] });
  const timeline = new Timeline();
  for (let i = 0; i < 2; i++) timeline.add(NOON);
  const key = resentKey('+', '1', reasonKey(moved.code, MOVED));
  scene.around = { files: { refusedDays }, resent: new Map([[key, timeline]]) };
  expect(scene.text()).toContain('  The cause is gone.\n  2 refused views were sent again.');
});

it('while the record of sent views is invalid, the page says so and prints no replay', () => {
  const scene = sceneOf({
    files: { refusedDays },
    recordFault: 'its line 3 is "ID -"; correct it',
  });
  scene.refuse(2, moved, MOVED);
  const text = scene.text();
  expect(text).toContain(
    `Can't tell which refused views were sent again: its line 3 is "ID -".\n  Correct it.`,
  );
  expect(text).toContain(
    '2 refused views are stored. Once the record of sent views can be read, the command for a replay will appear on the status page.',
  );
});

it('refusals are open again once lost origins are restored', () => {
  const scene = sceneOf();
  scene.list({ ...AURORA, origins: ['https://a.example'] });
  scene.refuse(1, moved, MOVED);
  scene.list({ id: '1' });
  scene.accept();
  scene.list({ ...AURORA, origins: ['https://a.example'] });
  expect(scene.text()).toContain(
    `  If ${MOVED} isn't one of the project's sites, ignore these views. If it is, add it:\n    ${VIEWLOG} activate 1 ${FILES} --origin ${MOVED}\n`,
  );
});

it.each([
  ['http://aurora.example', ' If its pages are meant to be on https, redirect them.'],
  ['https://aurora.example:8443', ''],
])('the page names the listed origin of the same host as %s', (origin, redirect) => {
  const scene = sceneOf();
  scene.refuse(1, moved, origin);
  const like =
    'The project lists https://aurora.example, which is another origin: its scheme or port differs.';
  expect(scene.text()).toContain(
    `  ${like}${redirect} If ${origin} isn't one of the project's sites, ignore these views. If it is, add it:\n`,
  );
});

it('the headline names each project that accepts views from every site once', () => {
  const scene = sceneOf();
  const closed = ['2', '3'].map((id) => ({ id, origins: [MOVED] }));
  scene.list(AURORA, ...closed);
  scene.refuse(1, { ...moved, project: '2' }, 'https://evil.example');
  scene.list(AURORA, { id: '2' }, { id: '3' });
  expect(headlineOf(scene.model())[1]).toBe(
    'Project 2: origins lost; Project 3 accepts views from every site',
  );
});

it('the status page also warns if a project is listed again without the origins that it had', () => {
  const scene = sceneOf();
  const [closed, open] = [{ id: '2', origins: [MOVED] }, { id: '2' }];
  const warned = ' activate 2 --data /data --origin https://www.aurora.example';
  scene.list(AURORA, closed);
  for (const gone of [[], [{ ...open, active: false }]]) {
    scene.list(AURORA, ...gone);
    scene.nowMs += DAY_MS;
    expect(scene.text()).not.toContain('no longer lists origins');
    scene.list(AURORA, open);
    expect(scene.text()).toContain(warned);
  }
  scene.list(AURORA);
  scene.list(AURORA, closed);
  expect(scene.text()).not.toContain('no longer lists origins');
});

it('the status page says that a new entry would accept any site if no origin is known', () => {
  const scene = sceneOf();
  scene.accept(1, '77');
  scene.refuse(1, unlisted('77'));
  expect(scene.text()).toContain(
    `To add a new entry instead, without the old name, limit and origins, so that it accepts views from any site:\n    ${VIEWLOG} activate 77 ${FILES}\n`,
  );
  scene.refuse(1, unlisted('77'), 'https://a.example');
  scene.refuse(1, unlisted('77'), 'https://b.example');
  expect(scene.text()).toMatch(
    / with only https:\/\/a.example, https:\/\/b.example as its origins and .*:\n.* --origin https:\/\/a.example --origin https:\/\/b.example\n/,
  );
});

it("the status page says that an unlisted id would accept any site if its origin can't be listed", () => {
  const scene = sceneOf();
  scene.refuse(1, unlisted('77'), 'null');
  expect(scene.whole()).toContain(
    `To count the site under this id, activate the project, which then accepts views from every site:\n    ${VIEWLOG} activate 77 ${FILES}\n`,
  );
});

it('the headline and the problem name and count the same causes', () => {
  const scene = sceneOf();
  scene.list({ ...AURORA, origins: ['https://a.example'] });
  scene.refuse(30, moved, MOVED);
  scene.refuse(10, { code: 'invalid-view', project: '1' });
  scene.accept(10);
  scene.list({ ...AURORA, origins: ['https://a.example', MOVED] });
  const both = '(origin not allowed, invalid view)';
  expect(scene.text()).toContain(`Aurora: 80% refused ${both}\nAurora: 40 of 50 views `);
  expect(scene.text()).toContain(`${both}. The refusals`);
  scene.list({ ...AURORA, origins: ['https://a.example'], active: false });
  scene.refuse(1, unlisted('1'));
  expect(scene.text()).toContain(
    'were refused (origin not allowed, invalid view, project not activated).',
  );
});

it("the status page doesn't add an unlisted origin to an inactive project without asking", () => {
  const scene = sceneOf();
  scene.list({ ...AURORA, origins: ['https://a.example'] });
  scene.refuse(2, moved, MOVED);
  scene.list({ ...AURORA, origins: ['https://a.example'], active: false });
  scene.refuse(1, unlisted('1'), 'https://a.example');
  expect(scene.text()).toContain(
    `  If ${MOVED} isn't one of the project's sites, ignore these views. If it is, add it and activate the project:\n    ${VIEWLOG} activate 1 ${FILES} --origin ${MOVED}\n`,
  );
});

it('the status page prints the fix of several reasons once', () => {
  const scene = sceneOf();
  scene.refuse(2, moved, MOVED);
  scene.refuse(3, moved, 'https://b.example');
  scene.list({ id: '1', active: false });
  scene.refuse(4, unlisted('1'), MOVED);
  expect(scene.text().match(/origin not allowed\.$|the project is inactive\.$/gm)).toHaveLength(3);
  expect(scene.text().split(`\n    ${VIEWLOG} activate 1 ${FILES}\n`)).toHaveLength(2);
});

it('the status page offers no replay of views that the list of origins would refuse', () => {
  const scene = sceneOf();
  const days = { refusedDays: ['2026-11-22'] };
  scene.around = { files: days };
  const listed = { id: '77', origins: [MOVED] };
  scene.list({ ...listed, active: false });
  scene.refuse(2, unlisted('77'));
  scene.list(listed);
  const help =
    "2 refused views are stored. A replay wouldn't help: the project would refuse the views again, because they have no Origin header.";
  expect(scene.text()).toContain(help);
  scene.accept(1, '77');
  expect(scene.text()).toContain(help);
  scene.list(AURORA);
  scene.refuse(2, unlisted('77'));
  expect(scene.text()).toContain(`add the entry again:
    ${VIEWLOG} activate 77 ${FILES} --origin ${MOVED}`);
  expect(scene.text()).toContain(help.replace('2', '4'));
  scene.refuse(1, unlisted('77'), 'https://x.example');
  expect(scene.text()).toContain(
    '1 refused view is stored. Once the project is listed again, the fix will appear on the status page.',
  );
  scene.refuse(1, unlisted('77'), MOVED);
  expect(scene.text()).toContain('Once the project is listed again, send the view again:');
});

it('the status page says when the first view came after the edit, although others came before it', () => {
  const scene = sceneOf();
  scene.list({ ...AURORA, origins: ['https://a.example'] });
  scene.refuse(3, moved, MOVED);
  scene.accept(3);
  scene.nowMs += 3 * MINUTE_MS;
  scene.list({ ...AURORA, origins: ['https://a.example', MOVED] });
  expect(scene.text()).toMatch(/^Aurora: fixed, waiting for a view/);
  expect(scene.text()).toContain('The cause is gone, but no view has been accepted since.');
  scene.nowMs += 5 * MINUTE_MS;
  scene.accept(3);
  expect(scene.text()).toContain(`Aurora: the problem ended on ${at('14:08')}.`);
  expect(scene.text()).toContain(`Views have been accepted since ${at('14:08')}.`);
});

it('a cause that is fixed stays fixed when its project is edited again', () => {
  const scene = sceneOf();
  scene.list({ ...AURORA, origins: ['https://a.example'] });
  scene.refuse(3, moved, MOVED);
  scene.list({ ...AURORA, origins: ['https://a.example', MOVED] });
  expect(scene.text()).toMatch(/^Aurora: fixed, waiting for a view/);
  scene.list({ ...AURORA, origins: [MOVED] });
  expect(scene.text()).toMatch(/^Aurora: fixed, waiting for a view/);
  scene.accept();
  const fixed = scene.text();
  expect(fixed).toMatch(/^Views are arriving from Aurora; earlier problems have ended/);
  scene.list({ ...AURORA, origins: undefined });
  scene.nowMs += 1000;
  const [, ...still] = fixed.split('\n');
  expect(scene.text()).toContain(still.join('\n'));
  scene.list({ ...AURORA, origins: undefined, maxViewsPerMinute: 60 });
  expect(scene.text()).toContain(still.join('\n'));
});

/** Returns the collector that another process restores from what this one saves. */
function restarted(scene: Scene, ...projects: ProjectEntry[]): Scene {
  const again = new Scene(projects, scene.nowMs);
  again.nowMs = scene.nowMs;
  again.counts.restore(v.parse(savedCounts, JSON.parse([...slicesOf(scene.counts)].join(''))));
  return again;
}

const seen = (scene: Scene) => ({ text: scene.text(), isAlarming: scene.model().isAlarming });

it('a problem that has ended comes back only with another refusal', () => {
  const scene = sceneOf();
  const off = { ...AURORA, active: false };
  const over = /^Views are arriving from Aurora; earlier problems have ended\nAurora: the problem/;
  scene.list(AURORA);
  scene.refuse(3, moved, MOVED);
  scene.list({ ...AURORA, origins: [MOVED] });
  scene.accept();
  scene.list(off);
  scene.refuse(3, unlisted('1'), MOVED);
  scene.list({ ...AURORA, origins: [MOVED] });
  scene.accept();
  expect(scene.text()).toMatch(over);
  for (const projects of [[off], [AURORA], []]) {
    scene.list(...projects);
    scene.nowMs += 1000;
    expect(scene.text()).not.toMatch(/refused \(|sending|waiting|no longer listed/);
    expect(scene.whole()).not.toMatch(/Views of \d unlisted|were? refused since/);
  }
  // Also after a restart.
  settle(scene.state());
  const again = restarted(scene, off);
  expect(again.text()).toBe(`Aurora is inactive, so its views are refused
To accept views
  Activate the project:
    ${VIEWLOG} activate 1 ${FILES}`);
  again.refuse(1, unlisted('1'), MOVED);
  expect(again.text()).toMatch(/; Aurora: inactive but sending\n/);
});

it('refusals of a problem that has ended are no part of the next one with its cause', () => {
  const scene = sceneOf();
  scene.list(AURORA);
  scene.refuse(25, moved, MOVED);
  scene.list({ ...AURORA, origins: [MOVED] });
  scene.accept(6);
  scene.list(AURORA);
  scene.refuse(1, moved, MOVED);
  settle(scene.state());
  const again = restarted(scene, AURORA);
  for (const { text, isAlarming } of [scene, again].map(seen)) {
    expect(text).toContain(
      '1 of 7 views in the last hour was refused (origin not allowed), not counting 25 refused because of an earlier problem that has ended. The refusals began on 2026-11-22 14:00 UTC.',
    );
    expect(isAlarming).toBe(false);
  }
  again.list({ ...AURORA, origins: [MOVED] });
  again.accept();
  again.list(AURORA);
  again.refuse(20, moved, MOVED);
  expect(again.text()).toContain(
    '20 of 27 views in the last hour were refused (origin not allowed), not counting 26 refused because of an earlier problem that has ended.',
  );
  expect(again.model().isAlarming).toBe(true);
});

it('the status page prints the command for a removed id also after refusals that have ended', () => {
  const scene = sceneOf({ files: { refusedDays } });
  const listed = { ...AURORA, origins: [MOVED] };
  scene.refuse(3, moved, MOVED);
  scene.list(listed);
  scene.accept();
  scene.list({ ...listed, active: false });
  scene.refuse(3, unlisted('1'), MOVED);
  scene.list(listed);
  scene.accept();
  // viewlog doesn't remember the entry.
  scene.list();
  scene.projects = new ProjectList({ projects: [] });
  scene.refuse(1, { code: 'view-too-large', project: '1', bytes: 40_000 });
  const steps = scene
    .whole()
    .split('\n')
    .filter((line) => /^ +(\S.*:|\/srv.*)$/.test(line));
  expect(steps.map((line) => / {4}\/srv/.test(line))).toStrictEqual(
    steps.map((_, i) => i % 2 === 1),
  );
  expect(steps.join('\n')).not.toContain('To send the view');
});

it("the status page doesn't blame the removal of a project for views that were refused before it", () => {
  const scene = sceneOf();
  scene.accept(1, '77');
  scene.list({ id: '77', active: false });
  scene.refuse(9, unlisted('77'));
  scene.list(AURORA, { id: '2' });
  // Nobody misses the views of an inactive project.
  expect(scene.text()).toBe('Views are arriving from 1 of 2 active projects');
  expect(scene.whole()).toContain(
    `Project 77 was in the projects file, but inactive; its last view was accepted on ${at('14:00')}. No view has been refused since its removal. If you removed the project on purpose, remove the script from its pages. To list it again and activate it:\n    ${VIEWLOG} activate 77 ${FILES}\n`,
  );
  expect(scene.whole()).toContain(': the project was inactive or not listed then.');
  scene.refuse(1, unlisted('77'));
  expect(scene.whole()).not.toContain('since its removal');
  expect(scene.whole()).toContain(': the projects file no longer lists this id.');
  expect(scene.text()).toBe('Views are arriving from 1 of 2 active projects');
});

it("the status page doesn't call a cause fixed just because its project is no longer listed", () => {
  const scene = sceneOf();
  scene.list({ id: '77', maxViewsPerMinute: 20 });
  scene.accept(20, '77', 0);
  scene.refuse(15, { code: 'rate-limited', project: '77', limit: 20 }, undefined, undefined, 0);
  scene.accept(1, '77');
  scene.list({ id: '2' });
  expect(scene.text()).toBe('Views are arriving from Project 2');
  scene.refuse(9, unlisted('77'));
  expect(scene.text()).toContain(
    '9 of 30 views in the last hour were refused, not counting 15 refused because of an earlier problem that has ended. ',
  );
});

it('the status page shows equal rows among the last views and refusals as one row with a count', () => {
  const scene = sceneOf();
  scene.accept(3);
  scene.refuse(2, moved, MOVED);
  scene.refuse(1, moved, 'https://b.example');
  scene.refuse(1, { code: 'request-timeout' });
  scene.refuse(1, { code: 'malformed-json' }, undefined, '{"p":');
  expect(scene.whole()).toContain(`Last 20 accepted views
${at('14:00:02')}  Aurora  /page (3 times)
${at('14:00:00')}  Project 2  /page

Last 20 refusals
${at('14:00:07')}  Request without a project  body cut off (2 times)
${at('14:00:05')}  Aurora  origin not allowed, from https://b.example
${at('14:00:04')}  Aurora  origin not allowed, from ${MOVED} (2 times)
`);
});

it('the status page reports no problem for a deactivated project that has stopped sending', () => {
  const scene = sceneOf();
  const off = { ...AURORA, active: false };
  scene.list({ ...AURORA, maxViewsPerMinute: 10 }, { id: '2' });
  scene.accept(5);
  scene.refuse(4, { code: 'rate-limited', project: '1', limit: 10 });
  scene.refuse(3, moved, MOVED);
  scene.list(off, { id: '2' });
  expect(scene.text()).toBe('Views are arriving from 1 of 1 active projects');
  expect(scene.whole()).toMatch(/ 5 .* 7 {3}inactive {19}1 {2}Aurora\n/);
  const html = page({ model: scene.model(), open: new Set(['1']) });
  expect(html).toContain('The project is inactive, so all its views are refused.');
  expect(html).not.toMatch(/accepted since|no view has been accepted since/);
  // The limit is raised and views are accepted before the deactivation.
  scene.list({ ...AURORA, maxViewsPerMinute: 20 }, { id: '2' });
  scene.accept();
  scene.list({ ...off, maxViewsPerMinute: 20 }, { id: '2' });
  expect(scene.text()).toBe('Views are arriving from 1 of 1 active projects');
  scene.refuse(1, unlisted('1'), 'https://aurora.example');
  expect(scene.text()).toContain('\nAurora (inactive but sending): 4 of 10 views ');
  expect(scene.text()).toMatch(/^Aurora: inactive but sending\n/);
  scene.list({ ...AURORA, active: false }, { id: '2', active: false });
  expect(scene.text()).toMatch(
    /^No project is active, so every view is refused; Aurora: inactive but sending\n/,
  );
  expect(scene.text()).not.toMatch(/accepted since|the problem|outage/);
});

it("an edit of a project's name doesn't change when the status page says a problem ended", () => {
  const scene = sceneOf();
  scene.refuse(2, moved, MOVED);
  const both = { ...AURORA, origins: [...AURORA.origins, MOVED] };
  scene.list(both, { id: '2' });
  scene.accept();
  const fixed = `Views have been accepted since ${at('14:00')}.`;
  expect(scene.text()).toContain(fixed);
  scene.nowMs += 5 * MINUTE_MS;
  scene.list({ ...both, name: 'Aurora Travel' }, { id: '2' });
  expect(scene.text()).toContain(fixed);
});

it('the status page counts refused requests, except those of scanners, in a tile, and says which ones the headline leaves out', () => {
  const scene = sceneOf();
  scene.refuse(3, moved, MOVED);
  scene.refuse(4, unlisted('77'));
  scene.list({ ...AURORA, origins: [...AURORA.origins, MOVED] }, { id: '2' });
  scene.accept();
  expect(scene.text()).toMatch(
    /^Views are arriving from 2 of 2 active projects; earlier problems have ended\n/,
  );
  expect(scene.whole()).toContain('\nRefused: 7 (in the last hour, from all senders)\n');
});

it('the status page shows the invalid line of the projects file, with a mark at the error', () => {
  const line = ['\t"id": "1" \u001b', '[2J"x"'] as const;
  const scene = sceneOf({ fault: { first: 'projects.json:3:2: expected ","', line } });
  expect(scene.text()).toContain(
    String.raw`: projects.json:3:2: expected ",". viewlog continues with the last good list, but a restart would lose it and fail.
  The line:
    "id": "1" \u001b[2J"x"
                    ^
  Correct the file.`,
  );
  const atEnd = sceneOf({ fault: { first: 'projects.json:2:1: expected "}"', line: ['', ''] } });
  expect(atEnd.text()).not.toContain('The line:');
  const html = page({ model: scene.model(), open: new Set() });
  expect(html).toMatch(/<blockquote>[^<]*u001b<mark>\[<\/mark>2J/);
  expect(html.match(/Copy/g)).toHaveLength(1);
});

it.each<[where: string, around: Scene['around']]>([
  ['in files of earlier days', { files: { viewDays: ['2026-11-20', DAY] } }],
  ["in today's file", { store: { fileBytes: 900, bytes: 0 } }],
])(
  'the status page says that earlier views are %s if the file of the counts was deleted',
  (_, around) => {
    const scene = new Scene([{ id: '1' }]);
    scene.around = around;
    expect(scene.text()).toBe('No view accepted since the counts began');
    expect(scene.whole()).toMatch(/ quiet {22}1 {2}Project 1$/m);
    const since = `The counts began on ${at('14:00')}; other views are in the files.`;
    expect(scene.whole()).toContain(`\n${since}\n`);
    scene.accept();
    expect(scene.whole()).toContain(`\nLast view accepted 1 s ago. ${since}\n`);
  },
);

it.each([{ unavailable: 'the disk is full' }, { sealedFragments: 1 }])(
  "the status page doesn't take part of a line for other views: %j",
  (store) => {
    const scene = new Scene([{ id: '1' }]);
    scene.around = { store: { fileBytes: 900, bytes: 600, ...store } };
    expect(scene.whole()).toContain(`\nThe counts began on ${at('14:00')}.\n`);
  },
);

it.each(['accepted', 'refused'])('the status page shows first steps until a view is %s', (how) => {
  const scene = new Scene([{ id: '1' }]);
  expect(scene.text()).toContain('\nTo get the first view\n');
  if (how === 'accepted') scene.accept();
  else scene.refuse(1, { code: 'invalid-view', project: '1' });
  expect(scene.text()).not.toContain('To get the first view');
});

it.each<[why: string, around: Scene['around']]>([
  ['nothing can be stored', { store: { unavailable: 'x' } }],
  ["the directory isn't viewlog's", { files: { closedDirectory } }],
])(
  "the status page doesn't show the first steps while they would fail, because %s",
  (_, around) => {
    const scene = new Scene([{ id: '1' }]);
    scene.around = around;
    expect(scene.text()).not.toContain('To get the first view');
  },
);

it('/arriving answers 503 while viewlog can create no files in its data directory', () => {
  const scene = sceneOf({ files: { closedDirectory } });
  scene.accept(9);
  const closed = "viewlog can't create files in its data directory; views are still arriving";
  expect(arrivingWords(scene.model())).toStrictEqual([503, closed]);
});

describe('the status page says what happened to refused views', () => {
  /** Returns the page after nine refusals, of which `lost` weren't stored. */
  function afterNine(
    refused: Refusal,
    lost = 0,
    why: Dropped = 'full',
    sentAgain = 0,
    atMs = NOON,
    state: '+' | '?' = '+',
  ) {
    const scene = sceneOf({ files: { refusedDays } });
    for (let i = 0; i < 9; i++) {
      const onDropped = scene.counts.refused(refused, MOVED);
      if (i < lost) onDropped(why);
    }
    const timeline = new Timeline();
    for (let i = 0; i < sentAgain; i++) timeline.add(atMs);
    const key = resentKey(state, '1', reasonKey(refused.code, MOVED));
    scene.around = { ...scene.around, resent: new Map([[key, timeline]]) };
    return scene.text();
  }
  const origin: Refusal = { ...moved, detail: 'x' };
  const page: Refusal = { ...origin, code: 'invalid-view' };
  const limit: Refusal = { ...origin, code: 'rate-limited', limit: 1 };

  it.each<[string, string, string]>([
    [
      'that are stored',
      afterNine(origin),
      `\n  9 refused views are stored. Once the project accepts ${MOVED}, send the views again:\n    ${REPLAY}`,
    ],
    [
      'of a page with errors',
      afterNine(page),
      "\n  9 refused views are stored. A replay wouldn't help",
    ],
    [
      'some of which were sent again',
      afterNine(origin, 0, 'full', 4),
      `\n  4 refused views were sent again.\n  5 refused views are stored but haven't been sent again yet. Once the project accepts ${MOVED}, send the views again:\n    ${REPLAY}`,
    ],
    [
      'that were all sent again',
      afterNine(origin, 0, 'full', 9),
      '\n  9 refused views were sent again.',
    ],
    [
      'one of which was sent again with an unknown outcome',
      afterNine(origin, 0, 'full', 1, NOON, '?'),
      `\n  8 refused views are stored. Once the project accepts ${MOVED}, send the views again:\n    ${REPLAY}\n  1 refused view was sent again with an unknown outcome, so it may be stored. The replay also says how to find out.`,
    ],
    [
      'that were all sent again with unknown outcomes',
      afterNine(origin, 0, 'full', 9, NOON, '?'),
      `\n  9 refused views were sent again with an unknown outcome, so they may be stored. To find out, run:\n    ${REPLAY}`,
    ],
    [
      'after a crash that lost the count of earlier ones, which were sent again',
      afterNine(origin, 0, 'full', 5, NOON - HOUR_MS),
      `\n  9 refused views are stored. Once the project accepts ${MOVED}, send the views again:\n    ${REPLAY}`,
    ],
    [
      "over the project's limit",
      afterNine(limit),
      "\n  9 refused views weren't stored: viewlog stores no views over a project's limit.",
    ],
    [
      'beyond --max-refused',
      afterNine(origin, 2),
      `\n    ${REPLAY}\n  2 refused views weren't stored: --max-refused was reached.`,
    ],
    [
      'while little space was free',
      afterNine(origin, 9, 'little-space'),
      "\n  9 refused views weren't stored: free disk space was below twice --min-free.",
    ],
  ])('%s', (_, text, expected) => {
    expect(text).toContain(expected);
  });

  it("in a file that viewlog isn't allowed to read", () => {
    const path = `/data/refused-${DAY}.ndjson`;
    const owner = { uid: 0, gid: 0, name: 'root' };
    const scene = sceneOf({
      files: { refusedDays, closedFiles: [{ day: DAY, path, owner }] },
      installation: { owners: { data: NAMELESS } },
    });
    scene.refuse(9, moved, MOVED);
    expect(scene.text().split('\n').slice(1, 4)).toStrictEqual([
      `viewlog can't read or write "${path}", a file of refused views, because it belongs to root.`,
      '  To give viewlog read and write access:',
      `    sudo chgrp 4712 ${path} && sudo chmod g+rw ${path}`,
    ]);
    expect(scene.text()).toMatch(
      /\n {2}9 refused views are stored\. Once viewlog can read the file, the command for a replay will appear on the status page\.$/,
    );
    expect(scene.text()).not.toContain(' replay /');
    const own = { day: DAY, path, owner: NAMELESS };
    scene.around = { ...scene.around, files: { refusedDays, closedFiles: [own] } };
    expect(scene.text()).toContain(
      `\nviewlog can't read or write "${path}", a file of refused views, because of its permissions.\n`,
    );
    const other = { day: DAY, path: `${path}.gz`, owner };
    scene.around = {
      ...scene.around,
      files: { refusedDays, closedFiles: [{ day: DAY, path, owner }, other] },
    };
    expect(scene.text()).toContain(
      "viewlog can't read or write 2 files of refused views, because they belong to root.",
    );
    // Root has copied several files into the directory, perhaps also some that no view needs now.
    const copied = { refusedDays, closedFiles: [{ day: DAY, path, owner }], copiesGid: 4713 };
    scene.around = { ...scene.around, files: copied };
    expect(scene.text()).toContain('    sudo chown -R 4711:4713 /data\n');
  });

  it('in a directory that viewlog can no longer enter', () => {
    const scene = sceneOf({ files: { closedDirectory } });
    scene.refuse(9, moved, MOVED);
    expect(scene.text()).toMatch(
      /\n {2}9 refused views were stored\. Once .*, the command for a replay will appear on the status page/,
    );
  });

  it('in a file that somebody has removed', () => {
    const scene = sceneOf();
    scene.refuse(9, moved, MOVED);
    expect(scene.text()).toMatch(
      /\n {2}9 refused views were stored in a file that has since been removed from the data directory\.$/,
    );
  });

  it('while the disk is full', () => {
    const store = { unavailable: 'the disk is full', unavailableSinceMs: NOON };
    const scene = sceneOf({ store });
    scene.refuse(9, { code: 'storage-unavailable', project: '1' });
    expect(scene.text()).toContain(
      "\n  9 views got a 503 in the last 24 hours: viewlog couldn't store views.",
    );
  });
});

it('the status page never says of requests without a project that views are accepted again', () => {
  const scene = sceneOf();
  // --max-view has since been raised.
  scene.refuse(9, { code: 'view-too-large', bytes: 100 });
  scene.accept(9);
  expect(scene.text()).toContain('\n  No request has failed for this reason since ');
});

it('once refusals have paused, the status page says for how long no view has been refused', () => {
  const scene = sceneOf();
  scene.refuse(9, { code: 'invalid-view', project: '1' });
  scene.nowMs += 3_000;
  scene.accept(2, '1', 0);
  expect(scene.text()).not.toContain('since then');
  scene.nowMs += 16_000;
  expect(scene.text()).toContain(
    ': invalid view. Since then (20 s), 2 views have been accepted, and none has been refused for this reason.\n',
  );
  expect(scene.text()).toMatch(/^Aurora: 82% refused/);
});

it('the status page says what happened to views refused for a fixed cause, while another cause refuses less than 10% of views', () => {
  const scene = sceneOf({ files: { refusedDays } });
  scene.list({ ...AURORA, maxViewsPerMinute: 10 }, { id: '2' });
  scene.refuse(5, moved, MOVED);
  scene.accept(10);
  scene.refuse(1, { code: 'rate-limited', project: '1', limit: 10 });
  scene.list({ ...AURORA, origins: [MOVED], maxViewsPerMinute: 10 }, { id: '2' });
  scene.accept(1);
  expect(scene.text())
    .toBe(`Views are arriving from 2 of 2 active projects; earlier problems have ended
Aurora: the problem (origin not allowed) ended on ${at('14:00')}. 1 view in the last hour was refused for another cause (rate limited).
  1 view was refused in the last 24 hours, on ${at('14:00')}: rate limited.
  The project's limit is 10 views per minute. Within two minutes, once viewlog has counted a full minute of views, a suggested limit will appear on the status page.
  1 refused view wasn't stored: viewlog stores no views over a project's limit.
  5 views were refused in the last 24 hours, most recently on ${at('14:00')} from ${MOVED}: origin not allowed.
  Views have been accepted since ${at('14:00')}.
  5 refused views are stored. To send the views again:
    ${REPLAY}`);
  // Requests that name no project are reported in the same order.
  scene.refuse(4, { code: 'unsupported-media-type' });
  scene.accept(41, '1', 5_000);
  scene.refuse(1, { code: 'malformed-json' });
  expect(scene.text()).toMatch(
    /\nRequests without a project: the problem \(.*type\) ended on .*\. 1 request in the last hour failed for another cause \(malformed JSON\)\.[^]* 4 refused requests weren't stored: /,
  );
});

it.each([
  ['the disk is full', {}],
  ['too little free disk space', {}],
  ["the view file can't be opened", { detail: 'x' }],
])(
  'the status page offers no command that would fail because no view can be stored: %s',
  (unavailable, more) => {
    const scene = sceneOf({ store: { unavailable, ...more }, files: { refusedDays } });
    scene.refuse(9, moved, MOVED);
    scene.refuse(9, { code: 'rate-limited', project: '2' });
    scene.refuse(9, unlisted('77'), MOVED);
    const once = 'Once views can be stored again, the ';
    expect(scene.text()).toContain(
      `\n  ${once}fix will appear on the status page.\n  9 refused views are stored. ${once}command for a replay will appear on the status page`,
    );
    expect(scene.whole()).not.toMatch(/srv\/viewlog (activate|replay)/);
  },
);

it('the status page says why the origin "null" has no fix', () => {
  const scene = sceneOf();
  scene.refuse(9, moved, 'null');
  expect(scene.text()).toContain(' from the origin "null": origin not allowed.\n');
  expect(scene.whole()).toContain('  origin not allowed, from the origin "null" (9 times)\n');
  scene.refuse(1, moved, '');
  expect(scene.text()).toContain(' with an empty Origin header: origin not allowed.\n');
  expect(scene.text()).toContain('\n  The origin "null" can\'t be listed: any page in ');
  // Its views are refused as before.
  scene.accept(60);
  expect(scene.text()).toMatch(
    /ended on [^]*\n {2}No view has been refused for this reason since /,
  );
});

it('the status page prints a command to explain a view only if its whole text fits on a line', () => {
  const scene = sceneOf();
  const commandFor = (text: string): string | undefined => {
    scene.refuse(9, { code: 'invalid-view', project: '1' }, MOVED, text);
    return / {4}(printf .*) \| /.exec(scene.text())?.[1];
  };
  const long = (length: number): string => `{"pn":"${'x'.repeat(length - 9)}"}`;
  expect(commandFor(long(1_000))).toBe(`printf %s '${long(1_000)}'`);
  expect(commandFor(long(1_001))).toBeUndefined();
  for (const odd of ['\n', '\t', '\u202e', '\u00ad']) {
    expect(commandFor(`{"pn":"x",${odd}"p":"1"}`)).toBeUndefined();
  }
});

it("the status page names a page by at most 100 printable characters of an invalid view's address", () => {
  const scene = sceneOf();
  const url = `/\u202e${'x'.repeat(200)}`;
  scene.refuse(9, { code: 'invalid-view', project: '1' }, MOVED, `{"url":"${url}"}`);
  const shown = String.raw`"/\u202e${'x'.repeat(97)}…"`;
  expect(scene.text()).toContain(`\n  Correct the page ${shown}.`);
});

it('the status page names causes that still refuse views before fixed causes', () => {
  const scene = sceneOf();
  scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, MOVED);
  scene.list({ ...AURORA, origins: [MOVED] }, { id: '2' });
  scene.accept(1);
  scene.refuse(2, { code: 'origin-not-allowed', project: '1' }, 'https://c.example');
  expect(scene.text()).toMatch(/https:\/\/c\.example: origin[^]*Views have been accepted since/);
  scene.accept(90, '1', 0);
  expect(scene.text()).toContain(
    'Aurora: the problem (origin not allowed) ended on 2026-11-22 14:00 UTC. 2 views in the last ' +
      'hour were refused for another cause (origin not allowed from https://c.example).\n',
  );
});

it.each([
  ['with a charset', 'application/x-www-form-urlencoded; charset=UTF-8'],
  ['with a quoted charset', 'text/plain; charset="utf-8"'],
])('the status page quotes a wrong type %s in full', (_, type) => {
  const scene = sceneOf();
  const detail = `The body was sent as "${type}". Send it as plain application/json.`;
  scene.refuse(9, { code: 'unsupported-media-type', detail }, MOVED);
  expect(scene.text()).toContain(`unsupported media type (the body was sent as "${type}").\n`);
});

it('the status page says whether views were refused for one fixed cause or several', () => {
  const scene = sceneOf();
  scene.refuse(1, moved, MOVED);
  scene.list({ ...AURORA, origins: [...AURORA.origins, MOVED] }, { id: '2' });
  scene.accept();
  scene.refuse(1, { code: 'invalid-view', project: '1' });
  expect(scene.text()).toContain(
    '1 of 2 views in the last hour was refused (invalid view), not counting 1 refused because of an earlier problem that has ended. ',
  );
  scene.list(
    { ...AURORA, origins: [...AURORA.origins, MOVED], maxViewsPerMinute: 20 },
    { id: '2' },
  );
  scene.refuse(3, { code: 'rate-limited', project: '1', limit: 10 });
  scene.accept();
  scene.refuse(2, { code: 'invalid-view', project: '1' });
  expect(scene.text()).toContain(
    ', not counting 4 refused because of earlier problems that have ended. ',
  );
});

it('the status page says that the disk will be full in less than a day', () => {
  const scene = sceneOf({ files: { bytesPerDay: 2 ** 34 } });
  expect(scene.whole()).toContain('\nFree disk: 8.0 GiB (lasts less than a day)\n');
});

it('an open project shows its views, its latest refused body once, and no day without counts', () => {
  const scene = sceneOf();
  const text = '{"p":"1"';
  scene.refuse(1, { code: 'malformed-json', project: '1' }, MOVED, text);
  const row = page({ model: scene.model(), open: new Set(['1']) }).split('class="details"')[1]!;
  const [details] = row.split('</details>');
  expect(details!.match(/<blockquote>/g)).toHaveLength(1);
  expect(details).toContain('Accepted today: 0.');
  expect(details).toMatch(/Its views among the last 20 accepted<.*>None\.</);
});

it('the status page suggests a limit based on the busiest minute of accepted and refused views', () => {
  const scene = sceneOf();
  scene.list({ id: '1', maxViewsPerMinute: 5, origins: ['https://a.example'] }, { id: '2' });
  scene.accept(1, '1', MINUTE_MS);
  scene.refuse(40, moved, MOVED, '{}', 0);
  scene.accept(5, '1', 0);
  scene.refuse(1, { code: 'rate-limited', project: '1', limit: 5 }, undefined, undefined, 0);
  scene.nowMs += MINUTE_MS;
  const suggested = (sent: number): string =>
    `The project's limit is 5 views per minute, and ${sent} were sent in the busiest minute. Unless this is a flood, raise the limit to twice that rate:
    ${VIEWLOG} activate 1 ${FILES} --max-views-per-minute ${2 * sent}`;
  scene.refuse(4, { code: 'rate-limited', project: '1', limit: 5 }, undefined, undefined, 0);
  expect(scene.text()).toContain(suggested(6));
  // The running minute counts once it has more.
  scene.refuse(9, { code: 'rate-limited', project: '1', limit: 5 }, undefined, undefined, 0);
  expect(scene.text()).toContain(suggested(13));
});

it('the status page shows three unlisted ids in full and folds the others into a list', () => {
  const scene = sceneOf();
  for (let i = 0; i < 5; i++) scene.refuse(1, unlisted(`70${i}`));
  const html = page({ model: scene.model(), open: new Set() });
  const [whole, folded] = html.split('<details data-id="unlisted"');
  expect(whole).toContain('702</p>');
  expect(whole).not.toContain('703');
  expect(folded).toMatch(/^[^>]*><summary>2 more: 703, 704<.*703</);
  expect(page({ model: sceneOf().model(), open: new Set() })).toContain('<summary>0 more');
  expect(page({ model: scene.model(), open: new Set(['unlisted']) })).toContain(
    ' open=""><summary>2',
  );
  for (let i = 0; i < 20; i++) scene.refuse(1, unlisted(`${8000 + i}`));
  expect(page({ model: scene.model(), open: new Set() })).toMatch(/<summary>22 more: [^<]*, …</);
});

it('the status page gives the maximum of a chart in words and a long name as a tooltip', () => {
  const scene = sceneOf();
  scene.list({ ...AURORA, name: 'x'.repeat(99) }, { id: '2' });
  scene.refuse(9, moved, MOVED);
  scene.accept(4);
  const html = page({ model: scene.model(), open: new Set(['1']) });
  expect(html).toContain('Highest counts per hour in the last 24 hours: 4 accepted, 9 refused.');
  expect(html).toContain(`<bdi title="${'x'.repeat(99)}">`);
  // The style sheet hides the reasons in a phone's headline.
  expect(html).toContain('<span class="why"> (origin not allowed)</span>');
});

it('the status page compares today with yesterday by this time, with the current quarter-hour in proportion', () => {
  const scene = new Scene([{ id: '1' }], NOON - 3 * DAY_MS);
  scene.nowMs = NOON - DAY_MS - HOUR_MS;
  scene.accept(10, '1', 0);
  scene.nowMs = NOON - DAY_MS;
  scene.accept(30, '1', 0);
  scene.nowMs = NOON + HOUR_MS / 12;
  scene.accept(3, '1', 0);
  expect(scene.model().total).toMatchObject({ today: 3, yesterday: 40, yesterdayByNow: 20 });
  scene.counts.sinceMs = NOON - HOUR_MS;
  expect(scene.model().total).toMatchObject({ yesterdayByNow: undefined });
});

it("the status page counts days in the server's time zone", () => {
  vi.stubEnv('TZ', 'Asia/Kolkata');
  onTestFinished(() => void vi.unstubAllEnvs());
  const scene = new Scene([{ id: '1' }], NOON - 3 * DAY_MS);
  for (const clock of ['18:29', '18:30']) {
    scene.nowMs = Date.parse(`2026-11-21T${clock}Z`);
    scene.accept();
  }
  scene.nowMs = NOON;
  expect(scene.model().total).toMatchObject({ today: 1, yesterday: 1 });
});

it('the status page shows 200 of many projects, problems first, and finds the others by a filter', () => {
  const projects = Array.from({ length: 1_000 }, (_, i) => ({ id: String(1_000_000 + i) }));
  const scene = new Scene(projects);
  scene.refuse(1, { code: 'invalid-view', project: '1000999' });
  const { projects: rows, projectsFound } = scene.model();
  expect([rows.length, rows[0]!.id, projectsFound]).toStrictEqual([200, '1000999', 1_000]);
  scene.around = { filter: '100070' };
  expect(scene.model().projects.map(({ id }) => id)).toHaveLength(10);
});

it('the status page takes an id for a typo of the project that lists its origin, if it is as near as another', () => {
  const scene = sceneOf();
  scene.list(
    { id: '7000001', name: 'Aurora' },
    { id: '7000011', name: 'Kelp', origins: ['https://kelp.example'] },
  );
  scene.refuse(1, unlisted('70000011'), 'https://kelp.example');
  expect(scene.whole()).toContain('70000011 is one typo away from 7000011 (Kelp).');
});

it('the status page prints a replay for several reasons once, under views that can be sent now', () => {
  const scene = sceneOf({ files: { refusedDays } });
  const other = 'https://b.example';
  scene.refuse(3, moved, MOVED);
  scene.refuse(2, moved, other);
  expect(scene.text().split(REPLAY)).toHaveLength(2);
  const later = (views: number, origin: string, where: string) =>
    `${views} refused views are stored. Once the project accepts ${origin}, the replay command ${where} sends the views, too.`;
  expect(scene.text()).toContain(later(2, other, 'above'));
  scene.list({ ...AURORA, origins: [other] });
  expect(scene.text()).toContain(later(3, MOVED, 'below'));
  expect(scene.text()).toContain(
    `2 refused views are stored. To send the views again:\n    ${REPLAY}`,
  );
  scene.list({ ...AURORA, origins: [MOVED, other] });
  expect(scene.text().split(REPLAY)).toHaveLength(2);
  expect(scene.text()).toContain(
    '2 refused views are stored. The replay command above sends the views, too.',
  );
});

it("the status page separates the origins of an unlisted id's views", () => {
  const scene = sceneOf({ files: { refusedDays } });
  const [a, b] = ['https://a.example', 'https://b.example'];
  scene.refuse(3, unlisted('77'), a);
  scene.refuse(2, unlisted('77'), b);
  scene.refuse(1, unlisted('77'));
  const activate = (origin: string) => `${VIEWLOG} activate 77 ${FILES} --origin ${origin}\n`;
  // One command for all, because a second one would add to the first.
  expect(scene.whole().match(/ activate 77 .*/g)).toStrictEqual([
    ` activate 77 ${FILES} --origin ${a} --origin ${b}`,
  ]);
  expect(scene.whole()).toContain(
    "delete the origins that aren't yours from this command, and run it; the project then refuses all other views:\n",
  );
  expect(scene.whole()).toMatch(
    /, on \S+ \S+ UTC without an Origin header: the projects file doesn't list this id\.\n {2}1 refused view is stored\. A replay wouldn't help: activated as above, the project would still refuse the view\.$/m,
  );
  scene.list(AURORA, { id: '77', origins: [b] });
  scene.accept(1, '77');
  expect(scene.text()).toContain(
    `The project is active now but doesn't list this origin. If ${a} isn't one of the project's sites, ignore these views. If it is, add it:\n    ${activate(a)}  3 refused views are stored. Once the project accepts ${a}, the replay command below sends the views, too.`,
  );
  expect(scene.text()).toMatch(/^Project 77: 80% refused \(project not activated\)\n/);
  expect(scene.text()).toContain('2 refused views are stored. To send the views again:');
  // The limit includes those that are counted together.
  for (let i = 0; i < 30; i++) scene.refuse(1, unlisted('88'), `https://${i}.example`);
  const row = scene.model().unlisted.find(({ id }) => id === '88');
  expect(row!.reasons.map(({ lastDay }) => lastDay)).toStrictEqual([...Array(8).fill(1), 22]);
});

it('the status page says which origin was meant, by the present list', () => {
  const scene = sceneOf();
  const closed = { ...AURORA, origins: ['https://a.example'] };
  const meant = `An origin must be http://host or https://host, with or without a port. The sender must send "${MOVED}".`;
  scene.list(closed);
  scene.refuse(1, moved, `${MOVED}/`);
  expect(scene.text()).toContain(
    `from ${MOVED}/: origin not allowed.\n  ${meant} If that isn't one of the project's sites, ignore these views. If it is, add it:\n    ${VIEWLOG} activate 1 ${FILES} --origin ${MOVED}\n`,
  );
  scene.list({ ...AURORA, origins: [MOVED] });
  expect(scene.text()).toContain(`from ${MOVED}/: origin not allowed.\n  ${meant}\n`);
});

it('the status page offers no replay of views whose origin was removed after their problem had ended', () => {
  const scene = sceneOf({ files: { refusedDays } });
  scene.list({ ...AURORA, origins: ['https://a.example'] });
  scene.refuse(3, moved, MOVED);
  scene.list({ ...AURORA, origins: ['https://a.example', MOVED] });
  scene.accept();
  expect(scene.whole()).toContain('3 refused views are stored. To send the views again:');
  scene.list({ ...AURORA, origins: ['https://a.example'] });
  expect(scene.whole()).toContain(
    "3 refused views are stored. A replay wouldn't help: the project would refuse the views again, because their origin isn't listed.",
  );
});

it("views of pages don't end the problem of a server that sends no Origin header", () => {
  const scene = sceneOf();
  scene.list(AURORA);
  scene.refuse(3, moved);
  scene.accept(9);
  scene.nowMs += MINUTE_MS;
  expect(scene.text()).toMatch(/^Aurora: 25% refused \(no Origin header\)\n/);
  scene.nowMs += HOUR_MS;
  expect(scene.text()).not.toContain('no Origin header');
});

it('the status page counts rare origins together, but never with views that have no origin', () => {
  const scene = sceneOf({ files: { refusedDays } });
  for (let i = 0; i < 12; i++) scene.refuse(1, moved, `https://${i}.example`);
  scene.refuse(1, moved);
  const whole = scene.whole();
  expect(whole).toContain('4 views from other origins were refused in the last 24 hours, most ');
  expect(whole).toContain(
    ' 1 view was refused in the last 24 hours, on 2026-11-22 14:00 UTC without ',
  );
  expect(whole).toContain("1 refused view is stored. A replay wouldn't help: the project would ");
  // Listing the latest of them ends nothing, because the page doesn't know the others.
  scene.list({ ...AURORA, origins: ['https://11.example'] });
  scene.accept(2);
  const after = scene.whole();
  expect(after).toMatch(
    /4 views from other origins [^]* 4 refused views are stored\. A replay sends only views whose origin is listed when you run it:\n {4}.* replay /,
  );
  expect(after).not.toContain('Views were accepted again');
});

it('the status page shows a removed project whose views arrived, before a view is refused', () => {
  const scene = sceneOf();
  scene.accept(9, '2');
  scene.list({ ...AURORA, active: false });
  expect(scene.whole()).toMatch(
    /^Aurora is inactive, so its views are refused; 1 other active project was removed\nLast view .* 14:00 UTC\. 1 active project was removed \(see below\)\.\n/,
  );
  expect(headlineOf(scene.model())[0]).toBe('amber');
  expect(scene.text()).toContain(
    `\nTo accept views\n  Activate the project:\n    ${VIEWLOG} activate 1 ${FILES}`,
  );
  expect(scene.whole()).toContain(`Unlisted ids in the last 24 hours:
2
  Project 2 was in the projects file; its last view was accepted on ${at('14:00')}. No view has been refused since its removal. If you removed the project on purpose, remove the script from its pages. If its id was changed by mistake, change it back in the projects file. If its entry was removed by mistake, add the entry again:
    ${VIEWLOG} activate 2 ${FILES}
`);
  scene.list(AURORA);
  expect(scene.whole()).toContain('. 1 active project was removed (see below).\n');
  scene.list();
  const none = 'No project is active, so every view is refused; ';
  const removed = '2 active projects were removed';
  expect(scene.text()).toBe(none + removed);
  expect(scene.whole()).toContain(`. ${removed} (see below).\n`);
  // While the projects file is invalid, no command can change it.
  scene.around = { fault: { line: ['', ''] } };
  expect(scene.text()).toMatch(
    /^No project is active, .*; the projects file is invalid; 2 active projects were removed\n/,
  );
  expect(scene.whole()).not.toContain(' activate 2 ');
  scene.around = {};
  scene.nowMs += DAY_MS + HOUR_MS;
  expect(scene.whole()).not.toContain('removed');
});

it('the status page lists projects again that were removed before their first view', () => {
  const scene = new Scene([{ ...AURORA, origins: ['https://a.example'] }]);
  scene.list();
  expect(scene.whole()).toMatch(
    /^No project is active, so every view is refused; 1 active project was removed\n/,
  );
  expect(scene.whole()).toContain(
    `add the entry again:\n    ${VIEWLOG} activate 1 ${FILES} --name Aurora --origin https://a.example\n`,
  );
  expect(scene.whole()).not.toContain('To get the first view');
  // Its id may have been changed on purpose.
  scene.list({ id: '2', origins: ['https://a.example'] });
  expect(scene.whole()).not.toContain('removed');
});

it('views over the old limit have ended only once a view is accepted under the new one', () => {
  const scene = sceneOf();
  // As if the limit had been lower before the restart.
  scene.refuse(9, { code: 'view-too-large', project: '1', bytes: 10_000 });
  scene.accept(9);
  scene.nowMs += MINUTE_MS;
  const again = restarted(scene, AURORA);
  expect(again.text()).toMatch(/^Aurora: fixed, waiting for a view\n/);
  again.nowMs += MINUTE_MS;
  again.accept(1);
  expect(again.text()).toContain(`Aurora: the problem ended on ${at('14:02')}.`);
});

it('the status page follows a busy project that is deactivated while its pages send', () => {
  const scene = sceneOf({ files: { refusedDays } });
  scene.accept(40);
  scene.list({ ...AURORA, active: false }, { id: '2' });
  expect(scene.text()).toBe('Views are arriving from 1 of 1 active projects');
  scene.refuse(1, unlisted('1'), AURORA.origins[0]);
  expect(scene.text()).toMatch(/^Aurora: inactive but sending\n/);
  scene.list(AURORA, { id: '2' });
  expect(scene.text()).toMatch(/^Aurora: fixed, waiting for a view\n/);
  expect(scene.text()).toContain(`To send the view again:\n    ${REPLAY}`);
  scene.accept();
  expect(scene.text()).toContain('Aurora: the problem ended on');
});

it('the status page lists the operator again with a removed project, unless the file has an operator', () => {
  const scene = sceneOf();
  scene.accept(9, '2');
  scene.projects.replace({ operator: 'a@b.example', projects: [AURORA, { id: '2' }] });
  scene.list(AURORA);
  expect(scene.whole()).toContain(` activate 2 ${FILES} --operator a@b.example\n`);
  scene.projects.replace({ operator: 'new@b.example', projects: [AURORA] });
  expect(scene.whole()).toContain(` activate 2 ${FILES}\n`);
});

it('an inactive project that sends ranks below a removed id', () => {
  const scene = sceneOf();
  scene.accept(9, '2');
  scene.accept(9, '3');
  scene.list(AURORA, { id: '2', active: false });
  scene.refuse(3, unlisted('2'), MOVED);
  scene.refuse(1, unlisted('3'), MOVED);
  expect(scene.text()).toMatch(/^Project 3: no longer listed; Project 2: inactive but sending\n/);
});

it('the headline names three reasons of a problem', () => {
  const scene = sceneOf();
  scene.list(AURORA);
  scene.refuse(2, moved, MOVED);
  for (const code of ['invalid-view', 'view-too-large', 'rate-limited'] as const) {
    scene.refuse(1, { code, project: '1', limit: 1 });
  }
  expect(scene.text()).toMatch(
    /^Aurora: .* \(origin not allowed, [^,]+, [^,]+\)\n.* and 1 other reason\)\./,
  );
});

it('the status page calls a removed project by its name', () => {
  const scene = new Scene([{ id: '1' }, { id: '77', name: 'Wiki' }]);
  scene.accept(9, '77');
  scene.list({ id: '1' });
  scene.refuse(18, unlisted('77'));
  expect(scene.text()).toMatch(
    /^Wiki: no longer listed\nWiki \(no longer listed\): 18 of 27 views /,
  );
  expect(scene.whole()).toContain('  Wiki  /page (9 times)\n');
});

it('the status page names a listed id if an unlisted or inactive id is probably a typo of it', () => {
  const scene = sceneOf();
  scene.list({ id: '1000001', name: 'Aurora' }, { id: '1000201', active: false });
  scene.refuse(3, unlisted('1000011'), MOVED);
  scene.refuse(3, unlisted('1000201'), MOVED);
  scene.refuse(3, unlisted('1000002'), MOVED);
  scene.around = { files: { refusedDays } };
  const typo = (id: string) =>
    `${id} is one typo away from 1000001 (Aurora). If the pages should send 1000001, correct them; the views refused so far can't be sent again under another id.`;
  expect(scene.whole()).toContain(
    `  ${typo('1000011')}\n  Otherwise, to count the site under this id, activate the project:`,
  );
  expect(scene.text()).toContain(
    `  ${typo('1000201')}\n  Otherwise, to count the site under this id, activate the project, which then accepts views from every site:`,
  );
  expect(scene.whole()).not.toContain('1000002 is one typo');
  // A replay helps only those who don't correct the pages.
  expect(scene.whole().match(/If you have activated \d+ instead, send the views again:/g)).toEqual([
    'If you have activated 1000201 instead, send the views again:',
    'If you have activated 1000011 instead, send the views again:',
  ]);
  // A view from an origin that its own project lists has no wrong id.
  const own = ['1000301', '1000401'].map((id) => {
    return { id, active: false, origins: ['https://own.example'] };
  });
  scene.list({ id: '1000001', name: 'Aurora' }, ...own);
  scene.refuse(3, unlisted('1000301'), 'https://own.example');
  expect(scene.whole()).not.toContain('1000301 is one typo');
  scene.refuse(3, unlisted('1000401'), MOVED);
  expect(scene.whole()).toContain(
    `  ${typo('1000401')}\n  Otherwise, if ${MOVED} isn't one of the project's sites, ignore these views. If it is, add it and activate the project:`,
  );
  // The origin says more than a similar id.
  scene.list(
    AURORA,
    { id: '1000001', name: 'Aurora' },
    { id: '5', name: 'Kelp', origins: [MOVED] },
  );
  expect(scene.whole()).toContain(
    `  ${MOVED} is an origin of project 5 (Kelp). If its pages should send 5, `,
  );
  // Only one project lists the origin.
  scene.list({ id: '5', name: 'Kelp', origins: [MOVED] }, { id: '6' });
  const owner = `  ${MOVED} is an origin of project 5 (Kelp). If its pages should send 5, correct them; the views `;
  expect(scene.whole().split(owner)).toHaveLength(3);
  scene.list({ id: '5', origins: [MOVED] }, { id: '6', origins: [MOVED] });
  expect(scene.whole()).not.toContain('is an origin of');
});

it("the status page says if a refused origin is another project's, whose id the pages may lack", () => {
  const scene = sceneOf();
  scene.list(
    { ...AURORA, origins: ['https://a.example'] },
    { id: '5', name: 'Kelp', origins: [MOVED] },
  );
  scene.refuse(2, moved, 'https://b.example');
  scene.refuse(1, moved, MOVED);
  const owner = `  ${MOVED} is an origin of project 5 (Kelp). If its pages should send 5, correct them; this problem then ends within an hour, but the views refused so far can't be sent again under another id.\n`;
  expect(scene.text().split(owner)).toHaveLength(2);
  expect(scene.text()).toContain(
    `from ${MOVED}: origin not allowed.\n${owner}  Otherwise, if the site should count for this project, too, add it:\n`,
  );
  // Views that were refused for another reason say nothing about the id.
  const shared = sceneOf();
  const own = { ...AURORA, origins: [MOVED] };
  shared.list(own, { id: '5', name: 'Kelp', origins: [MOVED] });
  shared.refuse(1, { code: 'invalid-view', project: '1' }, MOVED);
  shared.refuse(1, { code: 'origin-not-allowed', project: '1' });
  expect(shared.text()).not.toContain('is an origin of');
  const kelp = { id: '5', name: 'Kelp', active: false, origins: [MOVED] };
  scene.list({ ...AURORA, origins: ['https://a.example'] }, kelp);
  expect(scene.text()).toContain(
    `  ${MOVED} is an origin of project 5 (Kelp), which is inactive. If its pages `,
  );
  scene.list({ ...AURORA, origins: ['https://a.example'] }, kelp, { id: '6', origins: [MOVED] });
  expect(scene.text()).toContain(`  ${MOVED} is an origin of project 6. If its pages `);
});

it('the status page escapes untrusted text everywhere', () => {
  const evil = '<script>x</script>"\'<img src=x>';
  const scene = new Scene([{ id: '1', name: evil, origins: ['https://a.example'] }, { id: '2' }]);
  const issues = [{ field: evil, message: 'is bad', expected: 'x', received: evil }];
  const invalid = { code: 'invalid-view', project: '1', issues, detail: evil } as const;
  scene.refuse(1, moved, evil, evil);
  scene.refuse(1, invalid, evil, `{"url":"${evil}`);
  scene.refuse(1, { code: 'malformed-json' }, evil, evil);
  scene.refuse(1, unlisted('9'), evil);
  scene.counts.accepted('2', Buffer.from(JSON.stringify({ url: `/${evil}` })));
  const html = page({ model: scene.model(), open: new Set(['1', '2']) });
  expect(html.match(/&lt;script&gt;/g)!.length).toBeGreaterThan(8);
  expect(html).not.toMatch(/<script>|<img/);
});
