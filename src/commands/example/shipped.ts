import { EXIT, Fatal } from '../../base/exit.ts';
import { printable, shellQuoted } from '../../base/text.ts';
import type { ServeSettings } from './installation.ts';

/** What every configuration depends on that reads the files. */
export interface Shipped {
  /** The data directory, absolute. */
  readonly dir: string;
  /** The longest line, its newline included. */
  readonly lineBytesMax: number;
}

/** @throws {Fatal} exit 64 where there are no files, or a pattern would not find them. */
export function shippedBy({ store, data, 'max-view': lineBytesMax }: ServeSettings): Shipped {
  if (store !== undefined) {
    const hint = 'leave --store out, and name the archive’s --data';
    throw new Fatal(EXIT.usage, `A stream has no files to be read: ${hint}`);
  }
  // In a pattern, or in quotes, these would mean something else.
  if (/^[^*?[\]{}"'\\,%$]+$/.test(data)) return { dir: data, lineBytesMax };
  const shown = printable(data, Infinity);
  throw new Fatal(EXIT.usage, `A shipper would not take "${shown}" as it is; rename it`);
}

/**
 * How the shipper gets to read the files; the same for each, as comment lines.
 * @param user the one it runs as, where its package makes one.
 */
export const accessComment = (user: string, dir: string): string =>
  `# The files have mode 0640, in a directory of mode 0750. Unless it runs as root, the shipper's
# user has to be in their group (its name: stat -c %G ${shellQuoted(dir)}):
#   sudo usermod --append --groups GROUP ${user}
# and then to be started again.`;
