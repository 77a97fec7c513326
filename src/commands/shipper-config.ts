import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest, printable } from '../base/text.ts';
import { defineCommand } from './command.ts';
import { filebeat } from './example/filebeat.ts';
import { fluentBit } from './example/fluent-bit.ts';
import { rsyslog } from './example/rsyslog.ts';
import type { Shipped } from './example/shipped.ts';
import { vector } from './example/vector.ts';

const SHIPPERS: Record<string, (shipped: Shipped) => string> = {
  'fluent-bit': fluentBit,
  vector,
  filebeat,
  rsyslog,
};

/** Prints a configuration that follows this data directory. */
export const shipperConfig = defineCommand({
  name: 'shipper-config',
  operands: Object.keys(SHIPPERS).join('|'),
  summary: 'prints a configuration that ships the view files',
  examples: ['viewlog shipper-config vector --data /var/lib/viewlog > vector.yaml'],
  options: ['data', 'max-view'],
  async run(settings, operands, { print }) {
    const names = Object.keys(SHIPPERS);
    const [name = ''] = operands;
    if (operands.length !== 1 || !Object.hasOwn(SHIPPERS, name)) {
      const near = nearest(name, names);
      const hint = near === undefined ? '' : `; did you mean ${near}?`;
      const wanted = `shipper-config takes one of ${names.join(', ')}`;
      throw new Fatal(EXIT.usage, `${wanted}, not "${echo(operands.join(' '))}"${hint}`);
    }
    const dir = path.resolve(settings.data);
    // In a pattern, or in quotes, these would mean something else.
    if (!/^[^*?[\]{}"'\\,%$\p{Cc}]+$/u.test(dir)) {
      const shown = printable(dir, Infinity);
      throw new Fatal(EXIT.usage, `A shipper would not take "${shown}" as it is; rename it`);
    }
    print(SHIPPERS[name]!({ dir, lineBytesMax: settings['max-view'] }));
    return EXIT.done;
  },
});
