import type { Owner } from '../../src/installation/accounts.ts';
import type { Installation } from '../../src/installation/installation.ts';

export const SERVICE: Owner = { uid: 998, gid: 997, name: 'viewlog' };

/** A collector that a person started. */
export const INSTALLATION: Installation = {
  role: 'collector',
  pid: 42,
  sinceMs: Date.parse('2026-11-22T14:00:00.000Z'),
  version: '0.1.0',
  program: ['/srv/viewlog'],
  data: '/data',
  projects: '/data/projects.json',
  chosen: {},
  address: 'http://127.0.0.1:8080',
  owners: {},
  hasSudo: true,
};
