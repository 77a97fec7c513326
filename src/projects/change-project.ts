import { EXIT, Fatal } from '../base/exit.ts';
import { addItem, addObject, removeItem, setValue } from './json-edit.ts';
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
  const changed =
    before === undefined
      ? addObject(text, ['projects'], { ...after })
      : updated(text, index, before, after);
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
  const removed = new Set(removedOrigins.map(originKey));
  const byKey = new Map<string, string>();
  for (const origin of [...(entry.origins ?? []), ...added]) {
    const key = originKey(origin);
    if (!byKey.has(key)) byKey.set(key, origin);
  }
  const left = [...byKey].filter(([key]) => !removed.has(key)).map(([, origin]) => origin);
  if (left.length > 0 || byKey.size === 0) return left;
  throw new Fatal(
    EXIT.usage,
    `Project ${entry.id} would have no origin left; give the new one with --origin in the same ` +
      'command, delete "origins" from the file to let every site send, ' +
      'or deactivate the project to let none send',
  );
}

function updated(text: string, index: number, before: ProjectEntry, after: ProjectEntry): string {
  const path = ['projects', index];
  let result = text;
  if (before.active === false) result = setValue(result, [...path, 'active'], true);
  for (const key of ['name', 'maxViewsPerMinute', 'contact'] as const) {
    if (after[key] !== before[key]) result = setValue(result, [...path, key], after[key]);
  }
  const { origins = [] } = after;
  if (before.origins === undefined) {
    return origins.length > 0 ? setValue(result, [...path, 'origins'], origins) : result;
  }
  // Added before any is removed: the list is then never empty, and keeps its layout.
  for (const origin of origins.filter((origin) => !before.origins!.includes(origin))) {
    result = addItem(result, [...path, 'origins'], origin);
  }
  for (const [i, origin] of [...before.origins.entries()].toReversed()) {
    if (!origins.includes(origin)) result = removeItem(result, [...path, 'origins', i]);
  }
  return result;
}
