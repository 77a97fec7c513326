import { ARCHIVE_OPTIONS, runArchive } from '../run-archive.ts';
import { serve as runCollector } from '../serve.ts';
import { SERVE_OPTIONS } from '../settings.ts';
import { defineCommand } from './command.ts';

/** The commands that run until they are stopped. */
export const serve = defineCommand({
  name: 'serve',
  summary: 'runs the collector (the default)',
  examples: ['viewlog serve --data /var/lib/viewlog --port 8080'],
  options: SERVE_OPTIONS,
  isService: true,
  run: (settings, _, invocation) => runCollector(settings, invocation),
});

export const archive = defineCommand({
  name: 'archive',
  summary: 'writes the views of a JetStream stream to view files, each once',
  examples: ['viewlog archive --from nats://127.0.0.1:4222 --data /var/lib/viewlog'],
  options: ARCHIVE_OPTIONS,
  isService: true,
  optionHelp: {
    'nats-stream': 'the stream to archive',
    'min-free': 'wait below this much free disk space',
  },
  run: (settings, _, invocation) => runArchive(settings, invocation),
});
