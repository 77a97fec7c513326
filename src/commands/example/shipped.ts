/** What every shipper's configuration depends on. */
export interface Shipped {
  /** The data directory, absolute. */
  readonly dir: string;
  /** The longest line, its newline included. */
  readonly lineBytesMax: number;
}

/**
 * How the shipper gets to read the files; the same for each, as comment lines.
 * @param user the one it runs as, where its package makes one.
 */
export const accessComment = (user: string, dir: string): string =>
  `# The files have mode 0640, in a directory of mode 0750. Unless it runs as root, the shipper's
# user has to be in their group (its name: stat -c %G ${dir}):
#   sudo usermod --append --groups GROUP ${user}
# and then to be started again.`;
