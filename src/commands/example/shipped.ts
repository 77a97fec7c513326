import { EXIT, Fatal } from '../../base/exit.ts';
import { KiB } from '../../base/size.ts';
import { printable, shellQuoted } from '../../base/text.ts';
import type { Installation, ServeSettings } from './read-installation.ts';
import { fill } from './templates.ts';

// The configurations of what reads the view files.

/** @throws {Fatal} exit 64 where there are no files, or a pattern would not find them. */
export function directoryToRead({ store, data }: ServeSettings): string {
  if (store !== undefined) {
    const hint = 'leave --store out, and name the archive’s --data';
    throw new Fatal(EXIT.usage, `A stream has no files to be read: ${hint}`);
  }
  // In a pattern, or in quotes, these would mean something else.
  if (/^[^*?[\]{}"'\\,%$]+$/.test(data)) return data;
  const shown = printable(data, Infinity);
  throw new Fatal(EXIT.usage, `A shipper would not take "${shown}" as it is; rename it`);
}

/** Smaller ones are rsyslog's own default. */
const MESSAGE_BYTES_MIN = 8192;

/**
 * The configuration of a shipper.
 * @param user the one it runs as, where its package makes one.
 */
export const shipper =
  (name: string, user = name) =>
  ({ settings }: Installation): string => {
    const dir = directoryToRead(settings);
    const lineBytesMax = settings['max-view'];
    // Fluent Bit's: twice, for it also holds the start of the next line.
    const bufferKiB = Math.max(64, Math.ceil((2 * lineBytesMax) / KiB));
    return fill(name, {
      access: fill('access', { dir: shellQuoted(dir), user }),
      dir,
      lineBytesMax,
      chunkKiB: Math.min(bufferKiB, 512),
      bufferKiB,
      messageBytesMax: Math.max(MESSAGE_BYTES_MIN, lineBytesMax),
    });
  };
