import { Archive } from '../archive/archive.ts';
import { NatsSource } from '../archive/nats-source.ts';
import { EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { signals } from '../base/signals.ts';
import { acquireLock, type Lock } from '../disk/lock.ts';
import { type FileOps, systemFiles } from '../disk/ops.ts';
import { Retention } from '../disk/retention.ts';
import { type Cluster, connectCluster } from '../jetstream/connect.ts';
import type { Settings } from '../settings.ts';
import { archiveStatus } from '../status/archive-status.ts';
import { openStatus } from '../status/app.ts';
import { readToken } from '../status/token.ts';
import { defineCommand } from './command.ts';

const OPTIONS = [
  'archive-from',
  'data',
  'nats-stream',
  'nats-creds',
  'once',
  'min-free',
  'keep-days',
  'status',
  'status-token-file',
  'log',
] as const;
type ArchiveSettings = Settings<(typeof OPTIONS)[number]>;

/**
 * Writes the views of a stream to view files, each once, until SIGTERM or SIGINT; with `--once`,
 * until it has come to where the stream ended when it began.
 */
export const archive = defineCommand({
  name: 'archive',
  operands: '',
  summary: 'writes the views of a JetStream stream to view files, each once',
  examples: ['viewlog archive --from nats://127.0.0.1:4222 --data /var/lib/viewlog'],
  options: OPTIONS,
  isService: true,
  optionHelp: {
    'nats-stream': 'the stream to archive',
    'min-free': 'wait below this much free disk',
  },
  run: (settings, _, { log }) => run(settings, log),
});

/** @throws {Fatal} if it cannot start or go on. */
async function run(settings: ArchiveSettings, log: Log): Promise<ExitCode> {
  const { data: dir, 'archive-from': address, 'nats-creds': credsFile } = settings;
  if (address === undefined) {
    throw new Fatal(EXIT.usage, 'archive needs --from, such as --from nats://127.0.0.1:4222');
  }
  const stopping = new AbortController();
  const stop = stopping.signal;
  const stopped = new Promise<undefined>((resolve) => {
    stop.addEventListener('abort', () => resolve(undefined));
  });
  signals.onStop(() => stopping.abort());
  let fail!: (fatal: Fatal) => void;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  // Nobody may be waiting for it yet.
  failed.catch(() => {});
  const token = await readToken(settings);
  const lock = await acquireLock(dir, { log, onLost: fail });
  const files = systemFiles;
  let cluster: Cluster | undefined;
  try {
    const connecting = connectCluster({ address, credsFile, log, now: Date.now, onFatal: fail });
    cluster = await Promise.race([connecting, stopped, failed]);
    if (cluster === undefined) return EXIT.done;
    const finding = NatsSource.find(settings['nats-stream'], cluster, stop);
    const source = await Promise.race([finding, stopped, failed]);
    if (source === undefined) return EXIT.done;
    const work = follow(settings, { cluster, source, files, lock, token, log, stop });
    return await Promise.race([work, late(stopped), failed]);
  } finally {
    await cluster?.close(LIMITS.closeTimeoutMs);
    await lock.release();
  }
}

/** @throws {Fatal} exit 74 some time after the stop: the disk hangs. */
async function late(stopped: Promise<undefined>): Promise<never> {
  await stopped;
  await new Promise((resolve) => setTimeout(resolve, LIMITS.drainTimeoutMs).unref());
  const seconds = plural(LIMITS.drainTimeoutMs / 1000, 'second');
  const message = `Stopped before the files were written and synced, after ${seconds}`;
  throw new Fatal(EXIT.ioError, message);
}

interface Surroundings {
  readonly cluster: Cluster;
  readonly source: NatsSource;
  readonly files: FileOps;
  readonly lock: Lock;
  readonly token: string | undefined;
  readonly log: Log;
  readonly stop: AbortSignal;
}

async function follow(settings: ArchiveSettings, surroundings: Surroundings): Promise<ExitCode> {
  const { data: dir, once, 'min-free': minFreeBytes, 'keep-days': keepDays } = settings;
  const { cluster, source, files, lock, token, log, stop } = surroundings;
  const now = (): number => performance.now();
  const archive = new Archive({ source, dir, files, minFreeBytes, once, now, log, stop });
  const service = archiveStatus({
    state: () => archive.state(),
    server: () => cluster.server,
    isStopping: () => stop.aborted,
  });
  const status = await openStatus(settings.status, token, service, log);
  const retention = new Retention({
    dir,
    keepDays,
    keepRefusedDays: 0,
    now: Date.now,
    log,
    files,
    hasWritten: (_, day) => archive.hasWritten(day),
    isLocked: () => lock.isHeld(),
  });
  log.info(`viewlog archiving "${source.name}" to "${dir}"`);
  if (status !== undefined) log.info(`status page on ${status.url}/`);
  stop.addEventListener('abort', () => log.info('viewlog stopping'));
  try {
    await archive.run();
  } finally {
    retention.stop();
    await status?.stop();
  }
  const { lines, sequence } = archive.state();
  log.info(`Archived ${plural(lines, 'view')}, up to message ${sequence}`);
  return EXIT.done;
}
