import { isDay } from '../base/time.ts';

/** The kinds of daily files in the data directory. */
export const FILE_KINDS = ['views', 'refused'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** `views-2026-03-01.ndjson` */
export const fileNameOf = (kind: FileKind, day: string): string => `${kind}-${day}.ndjson`;

/** Returns the day in the name of a daily file of this kind; `undefined` for any other name. */
export function dayOfFileName(kind: FileKind, name: string): string | undefined {
  const day = /^[a-z]+-(\d{4}-\d\d-\d\d)\.ndjson$/.exec(name)?.[1];
  if (day === undefined || name !== fileNameOf(kind, day)) return undefined;
  return isDay(day) ? day : undefined;
}

/** Returns the day in a daily file's name, compressed (`.gz`) or not. */
export const dayOfName = (kind: FileKind, name: string): string | undefined =>
  dayOfFileName(kind, name.replace(/\.gz$/, ''));

/**
 * Returns the path of the record of replayed views, beside a file of refused views. No shipper's
 * pattern matches it.
 */
export const replayRecordOf = (refusedPath: string): string => `${refusedPath}.replayed`;

/**
 * Returns the names that a day's files can have, in the order of their removal. The record of
 * replayed views is the last, because it keeps views from being sent twice.
 */
export function filesOfDay(kind: FileKind, day: string): readonly string[] {
  const name = fileNameOf(kind, day);
  return [name, `${name}.gz`, ...(kind === 'refused' ? [replayRecordOf(name)] : [])];
}

/** Returns the day of a name that `filesOfDay` returns; `undefined` for any other name. */
export function dayOfRemovable(kind: FileKind, name: string): string | undefined {
  const day = dayOfFileName(kind, name.replace(/\.(gz|replayed)$/, ''));
  return day !== undefined && filesOfDay(kind, day).includes(name) ? day : undefined;
}

/** The record of an archive's position, beside its files. No shipper's pattern matches it. */
export const ARCHIVE_RECORD = 'archive.json';
export const archiveRecordOf = (dir: string): string => `${dir}/${ARCHIVE_RECORD}`;
