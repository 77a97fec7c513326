import { EXIT, Fatal } from '../base/exit.ts';
import { ARCHIVE_OPTIONS, runArchive } from '../run-archive.ts';
import { serve as runCollector } from '../serve.ts';
import { SERVE_OPTIONS, type ServeSettings } from '../settings.ts';
import { defineCommand } from './command.ts';

export const serve = defineCommand({
  name: 'serve',
  summary: 'runs the collector (the default)',
  examples: ['viewlog serve --data /var/lib/viewlog --port 8080'],
  options: SERVE_OPTIONS,
  isService: true,
  run(settings, _, invocation) {
    rejectSharedPort(settings);
    return runCollector(settings, invocation);
  },
});

export const archive = defineCommand({
  name: 'archive',
  summary: 'writes the views of a NATS stream to view files',
  examples: ['viewlog archive --from nats://127.0.0.1:4222 --data /var/lib/viewlog'],
  options: ARCHIVE_OPTIONS,
  isService: true,
  optionHelp: {
    data: 'directory of the view files',
    'nats-stream': 'the stream to archive',
    'min-free': 'wait while less than this much disk space is free',
  },
  run: (settings, _, invocation) => runArchive(settings, invocation),
});

/** @throws {Fatal} exit 78 if both servers would listen at one address. */
function rejectSharedPort({ host, port, status }: ServeSettings): void {
  if (status === 'off' || port === 0 || port !== status.port || host !== status.host) return;
  const what = `--port and --status have the same port, ${port}`;
  throw new Fatal(EXIT.badConfiguration, `${what}; choose another for one of them`);
}
