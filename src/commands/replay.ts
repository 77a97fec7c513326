import { existsSync, realpathSync } from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal, orElse } from '../base/exit.ts';
import { signals } from '../base/signals.ts';
import { echo, printable, shellQuoted } from '../base/text.ts';
import { systemClock } from '../base/time.ts';
import { checkReadable } from '../disk/lines.ts';
import { askHolder } from '../disk/lock.ts';
import { replayRecordOf } from '../disk/names.ts';
import { systemFiles } from '../disk/ops.ts';
import { noDirectory, replayFiles } from '../replay/replay.ts';
import { ownAddress } from '../http/listener.ts';
import { type AsOwner, asOwnerOf } from '../disk/root.ts';
import { doctor } from '../installation/commands.ts';
import { absolute, type Announced, withOwners } from '../installation/installation.ts';
import { OPTIONS, type Settings } from '../settings.ts';
import { defineCommand } from './command.ts';

/**
 * Sends refused views that would be accepted now to a running collector. Exit 65 if it is unknown
 * whether a view was stored, 69 if the replay couldn't finish.
 */
export const replay = defineCommand({
  name: 'replay',
  operands: 'FILE…',
  summary: 'sends refused views that would be accepted now',
  examples: ['viewlog replay /var/lib/viewlog/refused-2026-01-31.ndjson --data /var/lib/viewlog'],
  options: ['replay-to', 'project', 'host', 'port', 'data', 'projects', 'max-view'],
  optionHelp: {
    host: 'host to send to (default: that of the collector running in --data)',
    port: 'port to send to (default: that of the collector running in --data)',
    data: "the collector's data directory, where replay records what it sent",
    'max-view': 'largest view that the collector accepts',
  },
  isService: true,
  async run(settings, files, { print, log, self, asOwner }) {
    const wrong = files.find((file) => path.basename(file).startsWith('views-'));
    if (wrong !== undefined) {
      const what = `"${echo(wrong)}" is named like a file of accepted views`;
      throw new Fatal(
        EXIT.usage,
        `${what}; replay needs a file of refused views, such as refused-2026-01-31.ndjson`,
      );
    }
    for (const file of files) {
      checkReadable(file);
      await checkPlace(file, settings.data);
    }
    // The first signal ends the replay after the view that it is sending.
    const stopping = new AbortController();
    signals.onStop(() => stopping.abort());
    const isCertain = await replayFiles(files, {
      url: await addressOf(settings, self, asOwner),
      dir: settings.data,
      files: systemFiles,
      projectsPath: settings.projects,
      viewBytesMax: settings['max-view'],
      project: settings.project,
      stop: stopping.signal,
      clock: systemClock,
      onOutcome: print,
      asOwner,
      log,
    });
    if (stopping.signal.aborted) {
      throw new Fatal(
        EXIT.unavailable,
        'Stopped; to send any views that are left, run replay again',
      );
    }
    return isCertain ? EXIT.done : EXIT.badData;
  },
});

/**
 * Refuses a file in the data directory of another collector: the record there says which of its views
 * were sent.
 * @throws {Fatal} exit 64.
 */
async function checkPlace(file: string, data: string): Promise<void> {
  const dir = path.dirname(absolute(file));
  if (file === '-' || orElse(() => realpathSync(dir) === realpathSync(data), false)) return;
  const record = replayRecordOf(path.basename(file).replace(/\.gz$/, ''));
  const holder = await askHolder(dir).catch(() => undefined);
  if (holder === undefined && !existsSync(path.join(dir, record))) return;
  const shown = printable(dir, Infinity);
  throw new Fatal(
    EXIT.usage,
    `"${echo(file)}" is in the data directory of a collector, which has the record of the views that were sent; give that directory: --data ${shellQuoted(shown)}`,
  );
}

/**
 * Returns the address that the options choose, or that of the collector that holds the data
 * directory. At the default address, another collector could get the views.
 * @throws {Fatal} exit 69 if no collector holds the directory, or it is unknown whether one does.
 */
async function addressOf(
  settings: Settings<'host' | 'port' | 'data' | 'replay-to'>,
  self: Announced,
  asOwner: AsOwner,
): Promise<string> {
  const { chosen } = self;
  const isAt = chosen.host !== undefined || chosen.port !== undefined;
  const given = settings['replay-to'] ?? (isAt ? ownAddress(settings) : undefined);
  // The default directory may be any working directory's.
  if (given !== undefined && settings.data !== OPTIONS.data.fallback) return given;
  const holder = await askHolder(settings.data);
  if (given !== undefined && holder !== undefined) return given;
  if (typeof holder === 'object' && holder.address !== undefined) return holder.address;
  if (!existsSync(settings.data)) throw noDirectory(settings.data);
  const dir = `"${printable(settings.data, Infinity)}"`;
  const how = `To check this directory: ${doctor(await withOwners(self))}`;
  if (typeof holder === 'string') {
    if (holder === 'unresponsive')
      throw new Fatal(EXIT.unavailable, `The process that writes to ${dir} doesn't answer. ${how}`);
    const what = `This user isn't allowed to ask which collector is writing to ${dir}`;
    const fix =
      (await asOwnerOf(settings.data, asOwner)) ?? "give the collector's address with --to";
    throw new Fatal(EXIT.unavailable, `${what}; ${fix}`);
  }
  throw new Fatal(
    EXIT.unavailable,
    `No collector is writing to ${dir}; start the collector, or give the --data of the running one. If that one stores views in a stream, give its address with --to and, with --data, a directory for the records of replays. ${how}`,
  );
}
