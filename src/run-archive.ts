import { Archive } from './archive/archive.ts';
import { NatsSource } from './archive/nats-source.ts';
import { EXIT, type ExitCode, Fatal } from './base/exit.ts';
import { plural } from './base/format.ts';
import { LIMITS } from './base/limits.ts';
import { sleep } from './base/time.ts';
import { acquireLock } from './disk/lock.ts';
import { systemFiles as files } from './disk/ops.ts';
import { type Cluster, connectCluster } from './jetstream/connect.ts';
import { type ServiceOptions, stopOrFailure } from './serve.ts';
import type { Settings } from './settings.ts';
import { archiveStatus } from './status/archive-status.ts';
import { openStatus, type StatusServer } from './status/server.ts';
import { readToken } from './status/token.ts';

export const ARCHIVE_OPTIONS = [
  'archive-from',
  'data',
  'nats-stream',
  'nats-creds',
  'once',
  'restore',
  'min-free',
  'keep-days',
  'status',
  'status-token-file',
  'log',
] as const;
type ArchiveSettings = Settings<(typeof ARCHIVE_OPTIONS)[number]>;

/** The longest wait between two attempts to write or to read the stream. */
const WAIT_MS_MAX = 1_000;

/**
 * Writes the views of a stream to view files, each once, until SIGTERM or SIGINT; with `--once`
 * or `--restore`, until it has read what the stream held at the start.
 * @returns 65 if the archive ends without a signal and a view file is still cut short; otherwise 0.
 * @throws {Fatal} if it can't start or go on.
 */
export async function runArchive(
  settings: ArchiveSettings,
  { self, asOwner, log }: ServiceOptions,
): Promise<ExitCode> {
  const { data: dir, restore, 'min-free': minFreeBytes, 'keep-days': keepDays } = settings;
  const { 'archive-from': address, 'nats-creds': credsFile, 'nats-stream': stream } = settings;
  if (address === undefined) {
    throw new Fatal(
      EXIT.usage,
      'archive needs --from, the address of the NATS servers. For example: --from nats://127.0.0.1:4222',
    );
  }
  const stopping = new AbortController();
  const stop = stopping.signal;
  const { stopped, fail: onFatal, throwFailure } = stopOrFailure();
  void stopped.then((fatal) => fatal ?? stopping.abort());
  const token = await readToken(settings, self.chosen);
  const lock = await acquireLock(dir, { self, asOwner, log, onLost: onFatal });
  let cluster: Cluster | undefined;
  let status: StatusServer | undefined;
  const findStream = async (): Promise<NatsSource> => {
    cluster = await connectCluster({ address, credsFile, log, onFatal });
    return NatsSource.find(stream, cluster, stop);
  };
  try {
    const source = await Promise.race([findStream(), stopped]);
    if (source === undefined) return EXIT.done;
    if (source instanceof Fatal) throw source;
    const once = settings.once || restore !== undefined;
    const options = { minFreeBytes, keepDays, once, restore, now: Date.now };
    const isLocked = (): boolean => lock.isHeld();
    const waitMsMax = WAIT_MS_MAX;
    const archive = new Archive({ source, dir, files, ...options, waitMsMax, isLocked, log, stop });
    const service = archiveStatus(() => ({
      ...archive.state(),
      warnings: [...(cluster?.warnings ?? []), ...archive.state().warnings],
      server: cluster?.server,
      isStopping: stop.aborted,
    }));
    status = await openStatus(settings.status, token, service, log);
    lock.announce({ status: status?.url });
    log.info(`viewlog archiving stream "${source.name}" to "${dir}"`);
    if (status !== undefined) log.info(`Status page on ${status.url}/`);
    stop.addEventListener('abort', () => log.info('viewlog stopping'));
    await Promise.race([archive.run(), stopped.then(failAfterDrain)]);
    throwFailure();
    const { lines, sequence, shortened } = archive.state();
    log.info(`Archived ${plural(lines, 'view')}, up to message ${sequence}`);
    return stop.aborted || shortened.length === 0 ? EXIT.done : EXIT.badData;
  } finally {
    await status?.stop();
    await cluster?.close(LIMITS.closeTimeoutMs);
    await lock.release();
  }
}

/** @throws {Fatal} the failure; after a stop, exit 74 if the stop takes too long. */
async function failAfterDrain(fatal: Fatal | undefined): Promise<never> {
  if (fatal !== undefined) throw fatal;
  await sleep(LIMITS.drainTimeoutMs);
  const seconds = plural(LIMITS.drainTimeoutMs / 1000, 'second');
  const message = `Stopped after waiting ${seconds}, before all writes to the view files were finished and synced`;
  throw new Fatal(EXIT.ioError, message);
}
