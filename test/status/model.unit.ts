import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/base/time.ts';
import { page } from '../../src/status/page.tsx';
import { NOON, PLACE, Scene } from '../support/status-scene.ts';

// What an operator reads in the middle of the night: from the counts to the text.

const DAY = '2026-11-22';
const refusedDays = [DAY];
const AURORA = { id: '1', name: 'Aurora', origins: ['https://aurora.example'] };
const MOVED = 'https://www.aurora.example';
const notAllowed = { code: 'origin-not-allowed', project: '1' } as const;
const REPLAY =
  `viewlog replay /data/refused-${DAY}.ndjson --to http://127.0.0.1:8080 --project 1 ` +
  '--projects /data/projects.json';

describe('the status says', () => {
  it('that a site has moved, how to allow it, and how to send its views again', () => {
    const scene = new Scene([AURORA, { id: '2' }]);
    scene.around = { files: { refusedDays } };
    scene.accept(1, '2');
    scene.refuse(69, notAllowed, MOVED);
    expect(scene.text()).toBe(
      `All of Aurora's views are refused: origin not allowed
Last view 1 min ago. Counted since 14:00.

Aurora: refused since 14:00, all 69 views of the last hour.
  69 views: sent from ${MOVED}, an origin that is not listed. If it is one of its sites, add it:
    viewlog activate 1 --origin ${MOVED} --projects /data/projects.json
  Then send the refused views again:
    ${REPLAY}`,
    );
    scene.list({ ...AURORA, origins: [MOVED] }, { id: '2' });
    expect(scene.text()).toContain('They would be accepted now; waiting for the next one.');
    expect(scene.text()).not.toContain('viewlog activate');
    scene.accept();
    expect(scene.text()).toBe(
      `Views are arriving: 2 of 2 projects; problems fixed
Last view 1 s ago. Counted since 14:00.

Aurora: fixed since 14:01.
  Fixed since 14:01: 69 views from ${MOVED} (origin not allowed) refused before. To send them again:
    ${REPLAY}`,
    );
  });

  it('no replay command if none of the views were kept', () => {
    const scene = new Scene([AURORA]);
    scene.refuse(1, notAllowed, MOVED);
    expect(scene.text()).not.toContain('replay');
  });

  it('first that the projects file is faulty, and no command that fails for it', () => {
    const scene = new Scene([AURORA, { id: '2' }]);
    scene.accept(1, '2');
    scene.refuse(1, notAllowed, MOVED);
    scene.refuse(1, { code: 'project-not-activated', project: '1000009' });
    scene.refuse(1, { code: 'project-not-activated', project: '77' });
    const fault = 'projects.json:3:2: expected ","';
    const idsInFile = new Set(['1000009']);
    scene.around = { fault: { first: fault, idsInFile }, files: { refusedDays } };
    const text = scene.whole();
    expect(text).toContain(
      `\n\n${fault}. Faulty since 14:00; the last good list stays active.\n  Correct the file. Until then no command can change it.`,
    );
    expect(text.indexOf(fault)).toBeLessThan(text.indexOf('Aurora: '));
    expect(text).toMatch(/\n1000009: .*\n {2}It is in the file, which is not active\.\n/);
    expect(text).toMatch(/\n77: .*\n {2}Correct the projects file first\.\n/);
    expect(text).not.toMatch(/viewlog (activate|replay)/);
    scene.list({ id: '2' });
    expect(scene.model().headline).toMatchObject({ kind: 'amber', about: 'projects-file' });
  });

  it('that --min-free can never be reached, and which can', () => {
    const scene = new Scene([{ id: '1' }]);
    const MiB = 2 ** 20;
    scene.around = {
      store: { unavailable: 'too little free disk space', freeBytes: 58 * MiB },
      files: { sizeBytes: 60 * MiB },
    };
    expect(scene.text()).toContain(
      '--min-free is 64 MiB, but this file system can never have more than 60 MiB free. ' +
        'Start viewlog with --min-free 7MiB, or use a larger disk.',
    );
    scene.around = { ...scene.around, files: { sizeBytes: 999 * MiB } };
    expect(scene.text()).toContain('58 MiB are free, and 6.0 MiB more are needed: delete views-');
    expect(scene.model().headline.kind).toBe('red');
  });

  it('that requests arrive cut off, if they are more than one in ten', () => {
    const scene = new Scene([{ id: '1' }]);
    scene.accept(60);
    scene.refuse(6, { code: 'request-timeout' }, 'https://aurora.example');
    expect(scene.model().headline.kind).toBe('green');
    scene.refuse(128, { code: 'malformed-json' }, undefined, '{"p":"1","pid"');
    scene.refuse(500, { code: 'not-found' });
    expect(scene.text()).toBe(
      `134 of 194 requests failed: arrived cut off (134)
Last view 10 min ago. Counted since 14:00.

134 of 194 requests of the last hour failed before their project was known.
  134 requests: arrived cut off. That is usually a proxy's size limit (nginx: client_max_body_size; Caddy: request_body).`,
    );
    expect(scene.model().headline.kind).toBe('amber');
    scene.accept(10, '1', 10_000);
    expect(scene.model().headline.kind).toBe('green');
    expect(scene.text()).toMatch(
      /\n\nFixed since 14:\d\d: 134 of 204 requests of the last hour failed\.\n {2}134 requests: arrived cut off\.$/,
    );
  });

  it('to raise a limit to twice what is sent', () => {
    const scene = new Scene([{ id: '1', maxViewsPerMinute: 20 }]);
    scene.accept(20, '1', 0);
    for (let i = 0; i < 130; i++) {
      scene.nowMs = NOON;
      scene.refuse(1, { code: 'rate-limited', project: '1' });
    }
    expect(scene.text()).toContain('130 views: over its limit of 20 views a minute.');
    expect(scene.text()).toContain('viewlog activate 1 --max-views-per-minute 300 --projects ');
  });

  it('every fault of a page, and the command that explains them', () => {
    const scene = new Scene([{ id: '1', name: 'Aurora' }]);
    scene.around = { files: { refusedDays } };
    const issues = [
      { field: 'mb', message: 'must be an integer', expected: 'integer', received: '"12"' },
      { field: 'url', message: 'must start with "/"', expected: 'path', received: '"home"' },
    ];
    const text = '{"p":"1","url":"home"}';
    scene.refuse(2, { code: 'invalid-view', project: '1', issues }, 'https://a.example', text);
    expect(scene.text()).toContain(
      `  2 views: invalid: mb must be an integer, received the string "12"; url must start with "/", received "home". Correct the page "https://a.examplehome". To explain the latest:
    grep 1 /data/refused-${DAY}.ndjson | tail -n 1 | viewlog explain --projects /data/projects.json`,
    );
  });

  it('which of several projects have which problem, the worst first', () => {
    const scene = new Scene([
      { id: '1' },
      { id: '2' },
      { id: '3', active: false },
      { id: '4', name: 'Fine' },
      { id: '5' },
    ]);
    scene.accept(1, '4');
    scene.accept(5, '5');
    scene.refuse(1, { code: 'invalid-view', project: '5' });
    scene.refuse(9, { code: 'invalid-view', project: '2' });
    scene.refuse(1, { code: 'view-too-large', project: '1' });
    scene.refuse(99, { code: 'project-not-activated', project: '3' });
    expect(scene.text()).toMatch(
      /^4 of 5 projects have problems: invalid views \(2\), too large \(1\), inactive but still sending \(1\)\n/,
    );
    const { problems, projects } = scene.model();
    expect(problems.map(({ id }) => id)).toStrictEqual(['2', '1', '3', '5']);
    expect(projects.map(({ id }) => id)).toStrictEqual(['2', '1', '3', '5', '4']);
  });

  it('that a project is silent, and how to look for its script', () => {
    const scene = new Scene([AURORA, { id: '2' }], NOON - 2 * DAY_MS);
    scene.nowMs = NOON - DAY_MS - 2 * HOUR_MS;
    scene.accept(25);
    scene.nowMs = NOON - 5 * HOUR_MS;
    scene.accept();
    scene.nowMs = NOON;
    expect(scene.text()).toContain('viewlog doctor --data /data');
    scene.accept(1, '2');
    expect(scene.text()).toMatch(
      /^No views from Aurora in the last 3 hours: silent, unlike yesterday\n.*\n\nAurora: no view for 5 h 0 min, since 09:00; 25 came in the same 3 hours yesterday\.\n.*\n {4}curl -sSL https:\/\/aurora\.example\/ \| grep 1$/,
    );
  });

  it('of a stop only that it is near, for views are still accepted', () => {
    const scene = new Scene([{ id: '1' }]);
    scene.accept();
    scene.around = { isStopping: true };
    expect(scene.text()).toContain('viewlog is about to stop. It accepts views until it does.');
    expect(scene.model().headline.kind).toBe('green');
  });

  it('what to do first, for an empty collector', () => {
    const scene = new Scene([]);
    expect(scene.text()).toMatch(/^No project is active\n/);
    expect(scene.text().match(/^ {4}\S+ \S+/gm)).toStrictEqual([
      '    viewlog activate',
      '    viewlog snippet',
      '    curl http://127.0.0.1:8080/view',
    ]);
    scene.list({ id: '1' });
    expect(scene.text()).toMatch(/^Waiting for the first view\n/);
    scene.accept();
    expect(scene.text()).not.toContain('snippet');
    scene.nowMs += 2 * HOUR_MS;
    expect(scene.text()).toMatch(/^Quiet: no views in the last hour\n/);
  });

  it('which unlisted ids send, typos of listed ids first', () => {
    const scene = new Scene([{ id: '1000001', name: 'Aurora' }]);
    scene.accept(1, '1000001');
    scene.refuse(9, { code: 'project-not-activated', project: '77' }, 'https://x.example');
    scene.refuse(1, { code: 'project-not-activated', project: '1000010' }, 'https://a;b');
    expect(scene.whole()).toContain(
      `Unlisted ids that send views:
1000010: 1 view in 24 hours, 1 in the last hour, from https://a;b
  Probably 1000001 (Aurora) is meant: then correct the pages of https://a;b. If not:
    viewlog activate 1000010 --projects /data/projects.json
77: 9 views in 24 hours, 9 in the last hour, from https://x.example
  If it is a site of yours:
    viewlog activate 77 --origin https://x.example --projects /data/projects.json
`,
    );
  });

  it('which stream views go to, and since when it counts', () => {
    const scene = new Scene([{ id: '1' }]);
    scene.accept();
    const seen = { messages: 7, bytes: 700, leader: 'n1', replicas: 3, lagging: [] };
    const stream = { name: 'VIEWS', server: '127.0.0.1:4222', seen, warnings: [] };
    scene.around = { store: { stream } as object };
    expect(scene.whole()).toContain('Counted since 14:00, by this collector alone.');
    expect(scene.whole()).toContain('\nStream: 7 messages (VIEWS, 127.0.0.1:4222)\n');
    const gone = { stream: { ...stream, server: undefined }, unavailable: 'no connection' };
    scene.around = { store: { ...gone, unavailableSinceMs: NOON } };
    expect(scene.text()).toContain('\n\nViews are refused with 503 since 14:00: no connection.');
    expect(scene.whole()).toContain('(VIEWS, not connected)');
  });

  it('which files are overdue, and how to remove them now', () => {
    const scene = new Scene([{ id: '1' }]);
    scene.accept();
    const overdue = ['views-2026-01-01.ndjson', 'refused-2026-01-02.ndjson'];
    scene.around = { files: { overdue } };
    expect(scene.text()).toContain(`2 files should have been removed by now.
  viewlog removes one of each kind an hour. To remove them now:
    rm /data/views-2026-01-01.ndjson /data/refused-2026-01-02.ndjson`);
  });

  it('how long the disk lasts, by the last complete days', () => {
    const scene = new Scene([{ id: '1' }]);
    expect(scene.whole()).toContain('Free disk: 8.0 GiB (lasts: unknown before a full day)');
    scene.around = { files: { bytesPerDay: 2 ** 30 } };
    expect(scene.whole()).toContain('Free disk: 8.0 GiB (lasts: 7 days)');
  });
});

it('compares today with yesterday, the running quarter of an hour by its share', () => {
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

it('shows 200 of many projects, and finds the others', () => {
  const projects = Array.from({ length: 1_000 }, (_, i) => ({ id: String(1_000_000 + i) }));
  const scene = new Scene(projects);
  scene.refuse(1, { code: 'invalid-view', project: '1000999' });
  const { projects: rows, projectsFound } = scene.model();
  expect([rows.length, rows[0]!.id, projectsFound]).toStrictEqual([200, '1000999', 1_000]);
  scene.around = { asked: { filter: '100070' } };
  expect(scene.model().projects.map(({ id }) => id)).toHaveLength(10);
});

it('writes strangers’ texts into the page as text, in every place', () => {
  const evil = '<script>x</script>"\'<img src=x>';
  const scene = new Scene([{ id: '1', name: evil, origins: ['https://a.example'] }, { id: '2' }]);
  const issues = [{ field: evil, message: 'is bad', expected: 'x', received: evil }];
  scene.refuse(1, notAllowed, evil, evil);
  scene.refuse(
    1,
    { code: 'invalid-view', project: '1', issues, detail: evil },
    evil,
    `{"url":"${evil}`,
  );
  scene.refuse(1, { code: 'malformed-json' }, evil, evil);
  scene.refuse(1, { code: 'project-not-activated', project: '9' }, evil);
  scene.counts.accepted('2', Buffer.from(JSON.stringify({ url: `/${evil}` })));
  const asked = { open: new Set(['1', '2']), filter: evil };
  scene.around = { asked: { ...asked, filter: '' } };
  const html = page({ model: scene.model(), place: PLACE, asked, version: 'test' });
  expect(html.match(/&lt;script&gt;/g)!.length).toBeGreaterThan(8);
  expect(html).not.toMatch(/<script>|<img/);
});
