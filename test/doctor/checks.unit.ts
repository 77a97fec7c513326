import { describe, expect, it } from 'vitest';
import { doubtAbout, mountOf } from '../../src/doctor/file-system.ts';
import { checkRefusals } from '../../src/doctor/refusals-check.ts';
import { checkRuntime } from '../../src/doctor/runtime-check.ts';
import type { RefusalCode } from '../../src/view/refusal.ts';
import type { Remedy } from '../../src/view/remedy.ts';

// What no test can have a machine be.

const MOUNTS = [
  'overlay / overlay rw,relatime 0 0',
  '/dev/sda1 /var ext4 rw,relatime 0 0',
  String.raw`nas:/x /var/lib/view\040log nfs4 rw 0 0`,
  'tmpfs /var/lib/viewlog tmpfs rw 0 0',
  '/dev/sdb1 /var/lib/viewlog xfs rw,nobarrier 0 0',
].join('\n');

describe('the mount of a directory', () => {
  it.each([
    ['/var/lib/viewlog/a', 'xfs'],
    ['/var/lib/viewlogs', 'ext4'],
    ['/var/lib/view log', 'nfs4'],
    ['/srv', 'overlay'],
  ])('of %s is %s', (path, type) => {
    expect(mountOf(path, MOUNTS)?.type).toBe(type);
  });

  it.each([
    ['nfs4', 'rw', ', not a disk of this machine'],
    ['cifs', 'rw', ', not a disk of this machine'],
    ['fuse.sshfs', 'rw', ', not a disk of this machine'],
    ['tmpfs', 'rw', ', which is memory'],
    ['overlay', 'rw', ", a container's own layer"],
    ['xfs', 'rw,nobarrier', ' without barriers'],
    ['ext4', 'rw', undefined],
    ['btrfs', 'rw', undefined],
  ])('%s (%s) is doubted as it should be', (type, options, how) => {
    const mount = { device: 'x', at: '/', type, options: options.split(',') };
    expect(doubtAbout(mount, false)?.[0]).toBe(how);
  });
});

describe('the runtime', () => {
  it.each([
    ['Node', '20.18.3', 'linux', 'doubtful'],
    ['Node', '20.19.0', 'linux', 'well'],
    ['Node', '18.20.4', 'linux', 'doubtful'],
    ['Node', '26.1.0', 'darwin', 'doubtful'],
    ['Deno', '1.46.3', 'linux', 'doubtful'],
    ['Deno', '2.5.7', 'linux', 'well'],
    ['Bun', '1.0.0', 'linux', 'well'],
  ] as const)('%s %s on %s is %s', (name, version, platform, state) => {
    expect(checkRuntime({ name, version, platform }).state).toBe(state);
  });
});

describe('refusals of listed projects', () => {
  const DAY_MS = 86_400_000;
  const NOW = Date.UTC(2026, 0, 31, 12);
  const place = { projectsPath: '/p.json', dataDir: undefined, account: undefined };
  const reason = (code: RefusalCode, remedy: Remedy, lastMs = NOW - 1000) => ({
    lastMs,
    lastDay: 3,
    isFixed: false,
    remedy,
    sample: { atMs: lastMs, code, detail: '', issues: [] },
  });
  const told = (...reasons: ReturnType<typeof reason>[]) =>
    checkRefusals({ sinceMs: NOW - 2 * DAY_MS, projects: [{ id: '7', reasons }] }, NOW, place);
  const invalid = (lastMs?: number) =>
    reason('invalid-view', { kind: 'fix-page', fields: [] }, lastMs);

  it('have the command that mends them', () => {
    const remedy = { kind: 'raise-limit', id: '7', viewsPerMinute: 60 } as const;
    expect(told(reason('rate-limited', remedy))).toMatchObject([
      {
        what: '3 views of project 7 refused in the last 24 hours, rate-limited, the last at 2026-01-31T11:59:59Z',
        todo: 'viewlog activate 7 --max-views-per-minute 60 --projects /p.json',
      },
    ]);
  });

  it('that are mended by now, or of the day before, are none', () => {
    const mended = reason('project-not-activated', { kind: 'fixed' });
    const again = { ...invalid(), isFixed: true };
    expect(told(mended, again, invalid(NOW - DAY_MS))).toMatchObject([{ state: 'well' }]);
  });

  it('are five at most, and how many more', () => {
    const six = Array.from({ length: 6 }, () => invalid());
    expect(told(...six.slice(1))).toHaveLength(5);
    const { length, 5: last } = told(...six);
    expect([length, last]).toMatchObject([6, { what: '1 more of these, by project and reason' }]);
  });
});
