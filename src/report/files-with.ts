import * as fs from 'node:fs';
import { DAY_MS, dayOf } from '../base/time.ts';
import { cannotRead } from '../disk/lines.ts';
import { dayOfName, type FileKind } from '../disk/names.ts';
import type { OpenSpan } from './span.ts';

/** The daily files of these kinds that can hold lines of these local days. */
export function filesWith(
  dir: string,
  { fromDay, toDay }: OpenSpan,
  kinds: readonly FileKind[],
): string[] {
  const names = listed(dir);
  return kinds.flatMap((kind) =>
    [...names]
      .filter((name) => {
        const day = dayOfName(kind, name);
        if (day === undefined) return false;
        // A day being packed is there twice.
        if (name.endsWith('.gz') && names.has(name.slice(0, -'.gz'.length))) return false;
        // Names are UTC days; a local day reaches into the one before or after.
        const isLate = fromDay === undefined || neighbour(day, 1) >= fromDay;
        return isLate && (toDay === undefined || neighbour(day, -1) <= toDay);
      })
      .map((name) => `${dir}/${name}`),
  );
}

function listed(dir: string): Set<string> {
  try {
    return new Set(fs.readdirSync(dir).sort());
  } catch (error) {
    throw cannotRead(dir, error);
  }
}

const neighbour = (day: string, days: number): string => dayOf(Date.parse(day) + days * DAY_MS);
