import type { Inode } from './disk.ts';

/** Records what one process has done. */
export class Life {
  /** Files that were opened for writing, and files that were written. */
  readonly opened = new Set<Inode>();
  /** The names that the process opened for writing, or tried to. */
  readonly names = new Set<string>();
  readonly written = new Set<Inode>();
  readonly lines = { views: 0, refused: 0 };
  readonly bytes = { views: 0, refused: 0 };
  /** Writes that began a batch. */
  batches = 0;
  seals = 0;
  /** Writes that failed because the disk is full. */
  diskFull = 0;
  readonly last = { views: { n: -1, id: '' }, refused: { n: -1, id: '' } };
}
