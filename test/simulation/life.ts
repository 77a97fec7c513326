import type { Inode } from './disk.ts';

/** What one process has done. */
export class Life {
  /** Files that were opened to be written, and those that were. */
  readonly opened = new Set<Inode>();
  /** The names that were opened to be written, or were tried. */
  readonly names = new Set<string>();
  readonly written = new Set<Inode>();
  readonly lines = { views: 0, refused: 0 };
  readonly bytes = { views: 0, refused: 0 };
  /** Writes that began a batch. */
  batches = 0;
  seals = 0;
  /** Writes that were told that the disk is full. */
  diskFull = 0;
  readonly last = { views: { n: -1, id: '' }, refused: { n: -1, id: '' } };
}
