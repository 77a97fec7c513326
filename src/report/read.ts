import * as fs from 'node:fs';
import { basename } from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { sentence } from '../base/text.ts';
import { type Block, cannotRead, noViewFiles, readBlocks } from '../disk/lines.ts';
import { dayOfName } from '../disk/names.ts';
import { readHead } from '../view/line.ts';
import { parseViewLine } from './report-line.ts';
import { type OpenSpan, shifted } from './span.ts';
import type { Totals } from './totals.ts';

/**
 * Returns the view files that can hold lines of these local days. If a compressed file and an
 * uncompressed one begin with the same view, one is a copy of the other or of its start: the longer
 * one counts.
 * @returns the files' paths, and the UTC days whose only files can't be read.
 */
export async function filesWith(
  dir: string,
  spans: readonly OpenSpan[],
  warn: (message: string) => void,
): Promise<{ readonly files: string[]; readonly unreadDays: string[] }> {
  const isWanted = (name: string): boolean => {
    const day = dayOfName('views', name);
    return day !== undefined && spans.some((span) => mayHoldLinesOf(span, day));
  };
  const names = namesIn(dir);
  if (!names.some((name) => name.startsWith('views-'))) warn(noViewFiles(dir));
  const files = new Set(names.filter(isWanted));
  const unread = names.filter((name) => {
    const [, day = ''] = /^(.*)\.zst$/.exec(name) ?? [];
    return isWanted(day) && !files.has(day) && !files.has(`${day}.gz`);
  });
  if (unread.length > 0) {
    const others = unread.length > 1 ? ` and ${plural(unread.length - 1, 'other file')}` : '';
    const fix = 'decompress such files with zstd -d --rm';
    warn(`The report leaves out ${unread[0]}${others}, because it can't read zstd; ${fix}`);
  }
  for (const name of files) {
    const compressed = `${name}.gz`;
    if (!files.has(compressed)) continue;
    const [one, other] = [await extentOf(`${dir}/${name}`), await extentOf(`${dir}/${compressed}`)];
    const hasIds = one.firstId && other.firstId;
    if (hasIds && one.firstId !== other.firstId) continue;
    const [longer, shorter] = one.bytes < other.bytes ? [compressed, name] : [name, compressed];
    files.delete(shorter);
    const why = hasIds ? 'begin with the same view' : 'are for the same day';
    warn(
      `${name} and ${compressed} ${why}, so the report counts only ${longer}, which is at least as long`,
    );
  }
  return {
    files: Array.from(files, (name) => `${dir}/${name}`),
    unreadDays: unread.map((name) => dayOfName('views', name.replace(/\.zst$/, ''))!),
  };
}

/** Returns the decompressed length of a file as far as it can be read, and its first view. */
async function extentOf(file: string): Promise<{ bytes: number; firstId: string | undefined }> {
  const extent = { bytes: 0, firstId: undefined as string | undefined };
  await readAvailable(file, (block) => {
    extent.bytes += block.bytes;
    extent.firstId ??= readHead(block.lines().find(readHead) ?? '')?.id;
  });
  return extent;
}

/** Reads a file as far as it can be decompressed. Returns why the rest can't, or `undefined`. */
async function readAvailable(
  file: string,
  read: (block: Block) => void,
): Promise<string | undefined> {
  try {
    for await (const block of readBlocks(file, 'latin1')) read(block);
    return undefined;
  } catch (error) {
    if (error instanceof Fatal && error.exitCode === EXIT.badData) return error.message;
    throw error;
  }
}

function namesIn(dir: string): string[] {
  try {
    return fs.readdirSync(dir).sort();
  } catch (error) {
    throw cannotRead(dir, error, '--data');
  }
}

/** @param day a UTC day; a local day reaches into the UTC day before or after it. */
const mayHoldLinesOf = ({ fromDay, toDay }: OpenSpan, day: string): boolean =>
  (fromDay === undefined || shifted(day, 1) >= fromDay) &&
  (toDay === undefined || shifted(day, -1) <= toDay);

/** Adds up view files. Counts a damaged compressed file's readable part, and warns about it. */
export async function tallyFiles(
  files: readonly string[],
  totals: Totals,
  warn: (message: string) => void,
): Promise<void> {
  for (const file of files) {
    let isRead = false;
    const fault = await readAvailable(file, ({ lines, damaged }) => {
      for (const [i, line] of lines().entries()) {
        isRead = true;
        totals.addView(damaged.has(i) ? undefined : parseViewLine(line));
      }
    });
    if (fault === undefined) continue;
    totals.brokenFiles += 1;
    const day = dayOfName('views', basename(file));
    if (day !== undefined) totals.leaveOut(day);
    warn(
      `${sentence(fault)} The report ${isRead ? 'counts only the readable part' : 'leaves out the file'}`,
    );
  }
}
