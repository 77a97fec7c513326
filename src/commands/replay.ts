import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { signals } from '../base/signals.ts';
import { echo, printable } from '../base/text.ts';
import { systemClock } from '../base/time.ts';
import { checkReadable } from '../disk/lines.ts';
import { askHolder } from '../disk/lock.ts';
import { systemFiles } from '../disk/ops.ts';
import { noDirectory, replayFiles } from '../replay/replay.ts';
import { ownAddress } from '../http/listener.ts';
import { type AsOwner, asOwnerOf } from '../disk/root.ts';
import { doctor } from '../installation/commands.ts';
import { type Announced, withOwners } from '../installation/installation.ts';
import type { Settings } from '../settings.ts';
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
    for (const file of files) checkReadable(file);
    // The first signal ends the replay after the view that it is sending.
    const stopping = new AbortController();
    signals.onStop(() => stopping.abort());
    const isCertain = await replayFiles(files, {
      url: settings['replay-to'] ?? (await addressOf(settings, self, asOwner)),
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
 * Returns the address that the options choose, or that of the collector that holds the data
 * directory. At the default address, another collector could get the views.
 * @throws {Fatal} exit 69 if no collector holds the directory, or it is unknown whether one does.
 */
async function addressOf(
  settings: Settings<'host' | 'port' | 'data'>,
  self: Announced,
  asOwner: AsOwner,
): Promise<string> {
  const { chosen } = self;
  if (chosen.host !== undefined || chosen.port !== undefined) return ownAddress(settings);
  const holder = await askHolder(settings.data);
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
    `No collector is writing to ${dir}; start the collector, or give its address with --to. ${how}`,
  );
}
