import { isDeepStrictEqual } from 'node:util';
import { EXIT, Fatal } from '../base/exit.ts';
import { addObject, setValue } from './json-edit.ts';
import { originKey } from './origins.ts';
import type { ProjectEntry, ProjectsFile } from './projects-schema.ts';

// Writes an operator's change of a project into the text of the projects file.

/** The limit of a new project, unless the operator gives another. */
const VIEWS_PER_MINUTE = 6000;

/** A change of a project; `undefined` leaves a field as it is. Origins have no fault. */
export interface Change {
  readonly name: string | undefined;
  readonly contact: string | undefined;
  readonly maxViewsPerMinute: number | undefined;
  readonly origins: readonly string[];
  readonly removedOrigins: readonly string[];
}

/** The text with the changed project, and the project before and after. */
export interface Changed {
  readonly text: string;
  readonly before: ProjectEntry | undefined;
  readonly after: ProjectEntry;
}

/**
 * Changes only fields that differ. A new project goes last.
 * @throws {Fatal} exit 64 if no origin would be left, because then every site could send.
 */
export function changeProject(
  text: string,
  { projects }: ProjectsFile,
  id: string,
  change: Change,
): Changed {
  const index = projects.findIndex((project) => project.id === id);
  const before = projects[index];
  const after = merged(before ?? { id, maxViewsPerMinute: VIEWS_PER_MINUTE }, change);
  if (before === undefined) return { text: addObject(text, ['projects'], after), before, after };
  const was: ProjectEntry = { active: true, ...before };
  let changed = text;
  for (const key of Object.keys(after) as (keyof ProjectEntry)[]) {
    if (isDeepStrictEqual(was[key], after[key])) continue;
    changed = setValue(changed, ['projects', index, key], after[key]);
  }
  return { text: changed, before, after };
}

/** Returns the project after the change, its keys in the order of the schema. */
function merged(entry: ProjectEntry, change: Change): ProjectEntry {
  const { name = entry.name, contact = entry.contact } = change;
  const { maxViewsPerMinute = entry.maxViewsPerMinute } = change;
  const origins = originsAfter(entry, change);
  return {
    id: entry.id,
    ...(name !== undefined && { name }),
    ...(origins.length > 0 && { origins }),
    active: true,
    ...(maxViewsPerMinute !== undefined && { maxViewsPerMinute }),
    ...(contact !== undefined && { contact }),
  };
}

function originsAfter(entry: ProjectEntry, { origins: added, removedOrigins }: Change): string[] {
  const origins = new Map((entry.origins ?? []).map((origin) => [originKey(origin), origin]));
  for (const origin of added) {
    if (!origins.has(originKey(origin))) origins.set(originKey(origin), origin);
  }
  const hadOrigins = origins.size > 0;
  for (const origin of removedOrigins) origins.delete(originKey(origin));
  if (origins.size > 0 || !hadOrigins) return [...origins.values()];
  throw new Fatal(
    EXIT.usage,
    `Project ${entry.id} would have no origin left; give the new one with --origin in the same ` +
      'command, delete "origins" from the file to let every site send, ' +
      'or deactivate the project to let none send',
  );
}
