import { EXIT, Fatal } from '../base/exit.ts';
import { ARCHIVE_OPTIONS, runArchive } from '../run-archive.ts';
import { serve as runCollector } from '../serve.ts';
import { SERVE_OPTIONS, sharedPort } from '../settings.ts';
import { defineCommand } from './command.ts';

export const serve = defineCommand({
  name: 'serve',
  summary: 'runs the collector (the default)',
  examples: ['viewlog serve --data /var/lib/viewlog --port 8080'],
  options: SERVE_OPTIONS,
  isService: true,
  run(settings, _, invocation) {
    const shared = sharedPort(settings);
    if (shared !== undefined) throw new Fatal(EXIT.badConfiguration, shared);
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
