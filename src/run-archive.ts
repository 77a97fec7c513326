import { Archive } from './archive/archive.ts';
import { NatsSource } from './archive/nats-source.ts';
import { EXIT, type ExitCode, Fatal } from './base/exit.ts';
import { plural } from './base/format.ts';
import { LIMITS } from './base/limits.ts';
import type { Log } from './base/log.ts';
import { signals } from './base/signals.ts';
import { sleep } from './base/time.ts';
import { acquireLock } from './disk/lock.ts';
import { systemFiles as files } from './disk/ops.ts';
import { type Cluster, connectCluster } from './jetstream/connect.ts';
import type { Settings } from './settings.ts';
import { openStatus } from './status/app.ts';
import { archiveStatus } from './status/archive-status.ts';
import { readToken } from './status/token.ts';

export const ARCHIVE_OPTIONS = [
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
type ArchiveSettings = Settings<(typeof ARCHIVE_OPTIONS)[number]>;

/**
 * Writes the views of a stream to view files, each once, until SIGTERM or SIGINT; with `--once`,
 * until it has come to where the stream ended when it began.
 * @throws {Fatal} if it cannot start or go on.
 */
export async function runArchive(settings: ArchiveSettings, log: Log): Promise<ExitCode> {
  const { data: dir, 'archive-from': address, 'nats-creds': credsFile } = settings;
  if (address === undefined) {
    throw new Fatal(EXIT.usage, 'archive needs --from, such as --from nats://127.0.0.1:4222');
  }
  const stopping = new AbortController();
  const stop = stopping.signal;
  const stopped = new Promise<undefined>((resolve) => {
    signals.onStop(() => {
      stopping.abort();
      resolve(undefined);
    });
  });
  let onFatal!: (fatal: Fatal) => void;
  const failed = new Promise<never>((_, reject) => (onFatal = reject));
  // It may fail while nothing waits for it.
  failed.catch(() => {});
  const token = await readToken(settings);
  const lock = await acquireLock(dir, { log, onLost: onFatal });
  let cluster: Cluster | undefined;
  try {
    const connecting = connectCluster({ address, credsFile, log, now: Date.now, onFatal });
    cluster = await Promise.race([connecting, stopped, failed]);
    if (cluster === undefined) return EXIT.done;
    const finding = NatsSource.find(settings['nats-stream'], cluster, stop);
    const source = await Promise.race([finding, stopped, failed]);
    if (source === undefined) return EXIT.done;
    const isLocked = (): boolean => lock.isHeld();
    const running = follow(settings, { cluster, source, isLocked, token, log, stop });
    return await Promise.race([running, stopped.then(late), failed]);
  } finally {
    await cluster?.close(LIMITS.closeTimeoutMs);
    await lock.release();
  }
}

/** @throws {Fatal} exit 74 some time after the stop, because the disk hangs. */
async function late(): Promise<never> {
  await sleep(LIMITS.drainTimeoutMs);
  const seconds = plural(LIMITS.drainTimeoutMs / 1000, 'second');
  const message = `Stopped before the files were written and synced, after ${seconds}`;
  throw new Fatal(EXIT.ioError, message);
}

interface Started {
  readonly cluster: Cluster;
  readonly source: NatsSource;
  readonly isLocked: () => boolean;
  readonly token: string | undefined;
  readonly log: Log;
  readonly stop: AbortSignal;
}

async function follow(settings: ArchiveSettings, started: Started): Promise<ExitCode> {
  const { cluster, source, token, log, stop } = started;
  const archive = new Archive({
    ...started,
    dir: settings.data,
    files,
    minFreeBytes: settings['min-free'],
    keepDays: settings['keep-days'],
    once: settings.once,
    now: Date.now,
  });
  const service = archiveStatus({
    state: () => archive.state(),
    server: () => cluster.server,
    isStopping: () => stop.aborted,
  });
  const status = await openStatus(settings.status, token, service, log);
  log.info(`viewlog archiving "${source.name}" to "${settings.data}"`);
  if (status !== undefined) log.info(`status page on ${status.url}/`);
  stop.addEventListener('abort', () => log.info('viewlog stopping'));
  try {
    await archive.run();
  } finally {
    await status?.stop();
  }
  const { lines, sequence } = archive.state();
  log.info(`Archived ${plural(lines, 'view')}, up to message ${sequence}`);
  return EXIT.done;
}
