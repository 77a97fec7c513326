import { serve as runCollector, SERVE_OPTIONS } from '../serve.ts';
import { defineCommand } from './command.ts';

export const serve = defineCommand({
  name: 'serve',
  operands: '',
  summary: 'runs the collector (the default)',
  examples: ['viewlog serve --data /var/lib/viewlog --port 8080'],
  options: SERVE_OPTIONS,
  isService: true,
  run: (settings, _, { log }) => runCollector(settings, log),
});
