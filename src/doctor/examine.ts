import { statSync } from 'node:fs';
import { reasonOf } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import type { ProjectEntry } from '../projects/projects-schema.ts';
import { installationOf } from '../status/shell-commands.ts';
import { checkClock } from './clock-check.ts';
import { checkCollector, NO_ORIGIN } from './collector-check.ts';
import {
  checkOwners,
  checkUser,
  checkWritable,
  DIRECTORY,
  directoryFault,
} from './data-directory.ts';
import { checkFileSystem } from './file-system.ts';
import { doubtful, type Finding } from './finding.ts';
import type { Installation } from './installation.ts';
import { checkProjects } from './projects-check.ts';
import { checkProbe, newSign } from './probe-check.ts';
import { checkProxy, sendRealView, type Way } from './proxy-check.ts';
import { checkRefusals, savedRefusals } from './refusals-check.ts';
import { checkRuntime, runtimeHere } from './runtime-check.ts';
import { checkSite } from './site-check.ts';
import { checkSpace, freeBytes } from './space-left.ts';
import { type AskSnapshot, checkStatus } from './status-check.ts';
import { checkWriting } from './write-timing.ts';

interface Examination {
  readonly installation: Installation;
  /** Of the collector, as seen from this machine. */
  readonly address: string;
  /** Of its operator's listener; undefined where it is off. */
  readonly statusAddress: string | undefined;
  /** That pages post to, with `/view`. */
  readonly url: string | undefined;
  /** Of which one real view is sent there. */
  readonly project: string | undefined;
  readonly now: () => number;
}

/** Looks over the box, and changes nothing. What cannot be looked at is a finding, too. */
export async function examine(examination: Examination): Promise<Finding[]> {
  const { installation, address, statusAddress, url, project, now } = examination;
  const { store, projects } = installation;
  const data = store === undefined ? installation.data : undefined;
  const found: Finding[] = [];
  /** What the runtime forbids (Deno), or the system refuses, is said; the other checks go on. */
  const look: Look = async (check, looked) => {
    try {
      found.push(...[await looked()].flat());
    } catch (error) {
      const what = `It cannot be looked at: ${printable(reasonOf(error))}`;
      const todo = "Run this as the service's user or as root; Deno: with what it asks for";
      found.push(doubtful(check, what, 'it may be well or not', todo));
    }
  };
  await look('runtime', () => checkRuntime(runtimeHere()));
  const hasFiles = data !== undefined && (await checkDisk(look, found, installation, now()));
  const files = hasFiles ? data : undefined;
  await look('clock', () => checkClock(files, now()));
  let origin = NO_ORIGIN;
  let active: readonly ProjectEntry[] = [];
  await look('projects file', async () => {
    const read = await checkProjects(projects);
    ({ active } = read);
    const sender = active.find(({ id, origins }) =>
      project === undefined ? origins : id === project,
    );
    origin = sender?.origins?.[0]?.replace('*', 'www') ?? origin;
    return read.finding;
  });
  let isRunning = false;
  await look('collector', async () => {
    const collector = await checkCollector(address, data);
    ({ isRunning } = collector);
    return collector.finding;
  });
  let askSnapshot: AskSnapshot = () => Promise.resolve(undefined);
  await look('health', async () => {
    const told = await checkStatus(installation, statusAddress, isRunning);
    ({ askSnapshot } = told);
    return [...told.findings];
  });
  const paths = installationOf(installation);
  await look('refusals', async () => {
    if (active.length === 0) return [];
    const refused = (await askSnapshot()) ?? (await savedRefusals(paths, now));
    return refused === undefined ? [] : checkRefusals(refused, now(), paths);
  });
  if (url === undefined) return found;
  const way = { url, origin, viewBytesMax: installation['max-view'] };
  // Of collectors that share a stream any is the right one.
  const isHere = store === undefined ? askSnapshot : undefined;
  if (!(await checkWay(look, found, way, isHere, now))) return found;
  await look('origin', () => checkSite(url, active, project, paths));
  if (project !== undefined) await look('view', () => sendRealView(way, project, now()));
  return found;
}

/** @returns whether viewlog is reached. */
async function checkWay(
  look: Look,
  found: readonly Finding[],
  way: Way,
  askSnapshot: AskSnapshot | undefined,
  now: () => number,
): Promise<boolean> {
  const sign = newSign();
  const sentMs = now();
  await look('url', () => checkProxy(way, sign));
  if (found.some(({ check, state }) => check === 'url' && state === 'to be mended')) return false;
  await look('probe', async () => checkProbe(way.url, sign, sentMs, await askSnapshot?.()));
  return true;
}

type Look = (
  check: string,
  looked: () => Finding | Finding[] | Promise<Finding | Finding[]>,
) => Promise<void>;

/** @returns whether there is a directory to look into. */
async function checkDisk(
  look: Look,
  found: readonly Finding[],
  installation: Installation,
  nowMs: number,
): Promise<boolean> {
  const { data, durability, 'min-free': minFree } = installation;
  await look(DIRECTORY, () => directoryFault(data) ?? []);
  if (found.some(({ check }) => check === DIRECTORY)) return false;
  const stats = statSync(data);
  await look('user', () => checkUser(stats));
  await look(DIRECTORY, () => checkWritable(data, stats));
  const isWritable = found.at(-1)!.state !== 'to be mended';
  await look('owners', () => checkOwners(data, stats));
  await look('file system', () => checkFileSystem(data));
  let free: number | undefined;
  await look('free space', async () => {
    free = await freeBytes(data);
    return checkSpace(installation, free, nowMs);
  });
  // What is nearly full is not to be filled.
  if (isWritable && (free === undefined || free >= minFree)) {
    await look('write and sync', () => checkWriting(data, durability));
  }
  return true;
}
