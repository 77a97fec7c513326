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
import { startRetention } from '../disk/retention.ts';
import { StoppedWaiting } from '../archive/until-room.ts';
import { plural } from '../base/text.ts';
import { within } from '../base/time.ts';
import { Archiver } from '../archive/archiver.ts';
import { LagLog } from '../archive/lag.ts';
import { StreamReader } from '../archive/reader.ts';
import { type ArchiveRecord, readRecord } from '../archive/archive-record.ts';
import { describeArchive } from '../archive/describe-archive.ts';
import { MessagesLost, Stream } from '../archive/archived-stream.ts';
import { placeBeforeLoss } from '../archive/resume.ts';
import { defineCommand } from './command.ts';

/** What is looked after when no messages come: free space, moved files, the lag. */
const IDLE_MS = 1_000;

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

/** Finds the stream, and makes sure that it is the recorded one. */
async function openStream(settings: ArchiveSettings, { cluster, lock, log, stop }: Surroundings) {
  const { data: dir, 'nats-stream': name } = settings;
  const stream = await Stream.of(name, dir, cluster, stop);
  const { created, last } = await stream.find();
  const recorded = recordOf(dir, name, created);
  // The archive records an id wherever it can; without one, somebody may have set the sequence.
  const isDoubtful = recorded.id === undefined && recorded.sequence < last;
  const record = { ...(isDoubtful && { doubtfulTo: last }), ...recorded };
  const minFreeBytes = settings['min-free'];
  const archiver = new Archiver({ dir, record, minFreeBytes, log, stop, files: lock.files });
  try {
    await stream.verify(archiver.known);
  } catch (error) {
    if (!(error instanceof MessagesLost)) throw error;
    const place = await placeBeforeLoss(stream, archiver.known, dir);
    if (place === undefined) throw error;
    await archiver.beginAgain(place);
  }
  return { stream, archiver, last };
}

async function follow(settings: ArchiveSettings, surroundings: Surroundings): Promise<ExitCode> {
  const { cluster, lock, token, log, stop } = surroundings;
  const { data: dir, 'nats-stream': name } = settings;
  const opened = await Promise.race([openStream(settings, surroundings), aborted(stop)]);
  if (opened === undefined) return EXIT.done;
  const { stream, archiver, last } = opened;
  const { known } = archiver;
  const reader = new StreamReader({ stream, known, log });
  const parts = { name, archiver, reader, cluster, isStopping: () => stop.aborted };
  const watched = watchedInText(() => describeArchive(parts));
  const status = await openStatus(settings.status, token, watched);
  const keepDays = settings['keep-days'];
  const retention = startRetention({
    dir,
    keepDays,
    keepRefusedDays: 0,
    now: Date.now,
    log,
    files: lock.files,
    isLocked: () => lock.isHeld(),
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
    await inTime(work({ archiver, reader, lag, until, stop }), stop);
  } finally {
    reader.close();
    await within(LIMITS.closeTimeoutMs, retention.stop());
    await status?.stop();
  }
  const { lines } = archiver.state();
  log.info(`Archived ${plural(lines, 'view')}, up to message ${archiver.sequence}`);
  return EXIT.done;
}

interface Work {
  readonly archiver: Archiver;
  readonly reader: StreamReader;
  readonly lag: LagLog;
  readonly until: number;
  readonly stop: AbortSignal;
}

async function work({ archiver, reader, lag, until, stop }: Work): Promise<void> {
  let end = until;
  try {
    await archiver.start();
    while (!stop.aborted && archiver.sequence < end) {
      const taken = await reader.take(IDLE_MS);
      if ('place' in taken) {
        await archiver.goBack(taken);
        if (end !== Infinity) end = Math.min(end, reader.end);
      } else if (taken.length > 0) await archiver.take(taken);
      else await archiver.checkDisk();
      lag.tell(reader.end - archiver.sequence);
    }
  } catch (error) {
    // What is half written is recorded as such, and completed by the next start.
    if (!(error instanceof StoppedWaiting)) throw error;
  }
  await archiver.close();
}

/** @throws {Fatal} exit 74 if the work goes on for too long after the stop: the disk hangs. */
async function inTime(work: Promise<void>, stop: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => {
      const seconds = plural(LIMITS.drainTimeoutMs / 1000, 'second');
      const message = `Stopped before the files were written and synced, after ${seconds}`;
      const fail = (): void => reject(new Fatal(EXIT.ioError, message));
      timer = setTimeout(fail, LIMITS.drainTimeoutMs);
    });
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws {Fatal} exit 65 if it is that of another stream. */
function recordOf(dir: string, stream: string, created: string): ArchiveRecord {
  const record = readRecord(dir);
  if (record === undefined) return { stream, created, sequence: 0 };
  if (record.stream === stream) return record;
  throw new Fatal(
    EXIT.badData,
    `"${dir}" is the archive of stream "${record.stream}", not of "${stream}"; choose another --data`,
  );
}
