import * as path from 'node:path';
import { EXIT, type ExitCode, Fatal } from '../../base/exit.ts';
import type { Settings } from '../../settings.ts';
import { echo, nearest, printable } from '../../base/text.ts';
import { filebeat } from './filebeat.ts';
import { fluentBit } from './fluent-bit.ts';
import { rsyslog } from './rsyslog.ts';
import type { Shipped } from './shipped.ts';
import { vector } from './vector.ts';

const SHIPPERS: Record<string, (shipped: Shipped) => string> = {
  'fluent-bit': fluentBit,
  vector,
  filebeat,
  rsyslog,
};

/** `viewlog shipper-config NAME`: prints a configuration that follows this data directory. */
export async function shipperConfig(settings: Settings, operands: string[]): Promise<ExitCode> {
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
  console.log(SHIPPERS[name]!({ dir, lineBytesMax: settings['max-view'] }));
  return EXIT.done;
}
