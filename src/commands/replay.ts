import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { signals } from '../base/signals.ts';
import { echo } from '../base/text.ts';
import { systemClock } from '../base/time.ts';
import { systemFiles } from '../disk/ops.ts';
import { replayFiles } from '../replay/replay.ts';
import { defineCommand } from './command.ts';
import { ownAddress } from '../http/listener.ts';

/**
 * Sends refused views that would be accepted now to a running collector. Exit 65 if it is unknown
 * whether a view was stored, 69 if it couldn't finish.
 */
export const replay = defineCommand({
  name: 'replay',
  operands: 'FILE…',
  summary: 'sends refused views that would be accepted now to a running collector',
  examples: ['viewlog replay /var/lib/viewlog/refused-2026-01-31.ndjson --data /var/lib/viewlog'],
  options: ['replay-to', 'project', 'host', 'port', 'data', 'projects', 'max-view'],
  optionHelp: {
    host: "address of the collector, if --to isn't given",
    port: "port of the collector, if --to isn't given",
    data: "the collector's data directory, where replay records what it sent",
    'max-view': 'largest view that the collector accepts',
  },
  isService: true,
  async run(settings, files, { print, log, asOwner }) {
    const wrong = files.find((file) => path.basename(file).startsWith('views-'));
    if (wrong !== undefined) {
      throw new Fatal(EXIT.usage, `replay needs a file of refused views, not "${echo(wrong)}"`);
    }
    // The first signal ends it after the view that is being sent.
    const stopping = new AbortController();
    signals.onStop(() => stopping.abort());
    const isCertain = await replayFiles(files, {
      url: settings['replay-to'] ?? ownAddress(settings),
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
      throw new Fatal(EXIT.unavailable, 'Stopped; run replay again to send the rest');
    }
    return isCertain ? EXIT.done : EXIT.badData;
  },
});
