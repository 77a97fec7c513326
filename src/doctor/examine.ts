import { statSync } from 'node:fs';
import { reasonOf } from '../base/exit.ts';
import { printable } from '../base/text.ts';
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
import { checkProxy, sendRealView } from './proxy-check.ts';
import { checkRuntime, runtimeHere } from './runtime-check.ts';
import { checkSpace, freeBytes } from './space-left.ts';
import { checkStatus } from './status-check.ts';
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
  await look('clock', () => checkClock(files, installation['keep-days'], now()));
  let origin = NO_ORIGIN;
  await look('projects file', async () => {
    const { finding, active } = await checkProjects(projects);
    const sender = active.find(({ id, origins }) =>
      project === undefined ? origins : id === project,
    );
    origin = sender?.origins?.[0]?.replace('*', 'www') ?? origin;
    return finding;
  });
  let isRunning = false;
  await look('collector', async () => {
    const collector = await checkCollector(address, data);
    ({ isRunning } = collector);
    return collector.finding;
  });
  await look('health', () => checkStatus(installation, statusAddress, isRunning));
  if (url === undefined) return found;
  const way = { url, origin, viewBytesMax: installation['max-view'] };
  await look('url', () => checkProxy(way));
  const isReached = !found.some(({ check, state }) => check === 'url' && state === 'to be mended');
  if (project !== undefined && isReached) {
    await look('view', () => sendRealView(way, project, now()));
  }
  return found;
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
