import { DAY_MS, dayOf } from '../base/time.ts';
import { dayOfFileName } from '../disk/names.ts';
import { type DirectoryOptions, ifPresent } from '../disk/ops.ts';
import type { ArchiveRecord } from './archive-record.ts';

// Finds view files that another program has removed or cut short. The archive restores no file
// unasked, because operators compress, move and delete the files of old days.

interface DamageOptions extends DirectoryOptions {
  /** The days to retain a view file for; 0: forever. */
  readonly keepDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Returns the names of the missing files and of the files that are shorter than recorded, and
 * whether every file could be examined.
 * @param names by default, all files of the record.
 */
export async function damageOf(
  { files, dir }: DirectoryOptions,
  record: Pick<ArchiveRecord, 'files' | 'shortened'>,
  names?: readonly string[],
) {
  const missing: string[] = [];
  const shortened: string[] = [];
  let isComplete = true;
  // Another program may remove a file that it has cut short.
  for (const name of names ?? new Set([...Object.keys(record.files), ...record.shortened])) {
    const size = record.files[name];
    if (size === undefined && !record.shortened.includes(name)) continue;
    // A file that can't be examined is reported when it is opened.
    const found = await ifPresent(files.stat(`${dir}/${name}`)).catch(() => 'unknown' as const);
    if (found === undefined) missing.push(name);
    else if (found === 'unknown') isComplete = false;
    else if (found.isFile() && found.size < (size ?? 0)) shortened.push(name);
  }
  return { missing, shortened, isComplete };
}

export const shortenedText = (name: string): string =>
  `View file "${name}" was cut short by another program; ${restoreHint(name)}`;

/** Returns a warning about missing files; `undefined` if each is now a `.gz` or past retention. */
export async function removedText(
  { files, dir, keepDays, now }: DamageOptions,
  names: readonly string[],
): Promise<string | undefined> {
  const oldest = keepDays === 0 ? '' : dayOf(now() - keepDays * DAY_MS);
  const unexplained: string[] = [];
  for (const name of names.filter((one) => dayIn(one) >= oldest)) {
    const compressed = await ifPresent(files.stat(`${dir}/${name}.gz`)).catch(() => undefined);
    if (compressed === undefined) unexplained.push(name);
  }
  const [first] = unexplained;
  if (first === undefined) return undefined;
  if (unexplained.length === 1)
    return `View file "${first}" was removed by another program; ${restoreHint(first)}`;
  const days = new Intl.ListFormat('en-GB').format(unexplained.map(dayIn));
  return `View files of ${days} were removed by another program; ${RESTORE} once for each day, with its usual options and --restore DAY`;
}

const dayIn = (name: string): string => dayOfFileName('views', name) ?? '';

const RESTORE = 'to restore the views that the stream still has, stop the archive, then start it';

const restoreHint = (name: string): string =>
  `${RESTORE} once with its usual options and --restore ${dayIn(name)}`;
