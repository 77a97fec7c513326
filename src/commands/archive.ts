import { plural } from '../base/format.ts';
import { EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import { type Cluster, connectCluster } from '../jetstream/connect.ts';
import type { Log } from '../base/log.ts';
import type { Settings } from '../settings.ts';
import { LIMITS } from '../base/limits.ts';
import { openStatus } from '../status/open-status.ts';
import { readToken } from '../status/token.ts';
import { watchedInText } from '../status/watched-in-text.ts';
import { signals } from '../base/signals.ts';
import { acquireLock, type Lock } from '../disk/lock.ts';
import { systemFiles } from '../disk/ops.ts';
import { Retention } from '../disk/retention.ts';
import { archiveViews } from '../archive/archive-views.ts';
import { LagLog } from '../archive/lag.ts';
import { openArchive } from '../archive/open-archive.ts';
import { StreamReader } from '../archive/reader.ts';
import { describeArchive } from '../archive/describe-archive.ts';
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

/** @throws {Fatal} where it cannot start or go on. */
async function run(settings: ArchiveSettings, log: Log): Promise<ExitCode> {
  const { data: dir, 'archive-from': address } = settings;
  if (address === undefined) {
    throw new Fatal(EXIT.usage, 'archive needs --from, such as --from nats://127.0.0.1:4222');
  }
  const stopping = new AbortController();
  // The others are heeded too: a service that is a collector's in all but the command sends them.
  signals.onStop(() => stopping.abort());
  const token = await readToken(settings);
  let fail!: (fatal: Fatal) => void;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  // Also where nobody waits for it yet.
  failed.catch(() => {});
  const lock = await acquireLock(dir, { log, onLost: fail });
  const credsFile = settings['nats-creds'];
  const connecting = connectCluster({ address, credsFile, log, now: Date.now, onFatal: fail });
  const cluster = await Promise.race([connecting, aborted(stopping.signal)]);
  if (cluster === undefined) {
    await lock.release();
    return EXIT.done;
  }
  try {
    const work = follow(settings, { cluster, lock, token, log, stop: stopping.signal });
    return await Promise.race([work, failed]);
  } finally {
    await cluster.close(LIMITS.closeTimeoutMs);
    await lock.release();
  }
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined));
  });

interface Surroundings {
  readonly cluster: Cluster;
  readonly lock: Lock;
  readonly token: string | undefined;
  readonly log: Log;
  readonly stop: AbortSignal;
}

async function follow(settings: ArchiveSettings, surroundings: Surroundings): Promise<ExitCode> {
  const { cluster, lock, token, log, stop } = surroundings;
  const { data: dir, 'nats-stream': name } = settings;
  const opening = openArchive({
    dir,
    stream: name,
    minFreeBytes: settings['min-free'],
    cluster,
    files: systemFiles,
    log,
    stop,
  });
  const opened = await Promise.race([opening, aborted(stop)]);
  if (opened === undefined) return EXIT.done;
  const { stream, archiver, last } = opened;
  const { known } = archiver;
  const reader = new StreamReader({ stream, known, log });
  const parts = { name, archiver, reader, cluster, isStopping: () => stop.aborted };
  const watched = watchedInText(() => describeArchive(parts));
  const status = await openStatus(settings.status, token, watched);
  const keepDays = settings['keep-days'];
  const retention = new Retention({
    dir,
    keepDays,
    keepRefusedDays: 0,
    now: Date.now,
    log,
    files: systemFiles,
    isLocked: () => lock.isHeld(),
    hasWritten: (_, day) => archiver.hasWritten(day),
  });
  log.info(`viewlog archiving "${name}" to "${dir}", from message ${archiver.sequence + 1} on`);
  if (status !== undefined) log.info(`status page on ${status.url}/`);
  const lag = new LagLog(log);
  const until = settings.once ? last : Infinity;
  stop.addEventListener('abort', () => {
    log.info('viewlog stopping');
    reader.close();
  });
  try {
    await archiveViews({ archiver, reader, lag, until, stop });
  } finally {
    reader.close();
    retention.stop();
    await status?.stop();
  }
  const { lines } = archiver.state();
  log.info(`Archived ${plural(lines, 'view')}, up to message ${archiver.sequence}`);
  return EXIT.done;
}
