import { EXIT, Fatal } from '../../base/exit.ts';
import { KiB } from '../../base/size.ts';
import type { Installation, ServeSettings } from './installation.ts';
import { fill } from './templates.ts';

// Configurations of programs that read the view files.

/** @throws {Fatal} exit 64 if there are no files. */
export function directoryToRead({ store, data }: ServeSettings): string {
  if (store === undefined) return data;
  const hint = "leave out --store, and give the archive's --data";
  throw new Fatal(EXIT.usage, `A stream has no files to read; ${hint}`);
}

/** rsyslog's own default. */
const MESSAGE_BYTES_MIN = 8192;

/**
 * Returns a function that makes a shipper's configuration.
 * @param user the user that its package creates for it.
 */
export const shipper =
  (name: string, user = name) =>
  ({ settings }: Installation): string => {
    const dir = directoryToRead(settings);
    const lineBytesMax = settings['max-view'];
    // Fluent Bit's buffer also holds the start of the next line.
    const bufferKiB = Math.max(64, Math.ceil((2 * lineBytesMax) / KiB));
    return fill(name, {
      access: fill('access', { dir, user }),
      dir,
      lineBytesMax,
      chunkKiB: Math.min(bufferKiB, 512),
      bufferKiB,
      messageBytesMax: Math.max(MESSAGE_BYTES_MIN, lineBytesMax),
    });
  };
