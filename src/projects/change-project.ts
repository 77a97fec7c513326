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
  const { name, contact, maxViewsPerMinute = before ? undefined : VIEWS_PER_MINUTE } = change;
  const origins = originsAfter(id, before?.origins, change);
  // In the order of the schema.
  const fields = Object.entries({ id, name, origins, active: true, maxViewsPerMinute, contact });
  const wanted = fields.filter(([, value]) => value !== undefined);
  const after: ProjectEntry = { ...before, id, ...Object.fromEntries(wanted) };
  if (before === undefined) return { text: addObject(text, ['projects'], after), before, after };
  const was = new Map<string, unknown>(Object.entries({ active: true, ...before }));
  const changed = wanted.filter(([key, value]) => !isDeepStrictEqual(was.get(key), value));
  const set = (before: string, [key, value]: [string, unknown]): string =>
    setValue(before, ['projects', index, key], value);
  return { text: changed.reduce(set, text), before, after };
}

function originsAfter(
  id: string,
  before: readonly string[] = [],
  { origins: added, removedOrigins }: Change,
): string[] | undefined {
  const origins = new Map<string, string>();
  for (const origin of [...before, ...added]) {
    // The spelling in the file stays.
    if (!origins.has(originKey(origin))) origins.set(originKey(origin), origin);
  }
  for (const origin of removedOrigins) origins.delete(originKey(origin));
  if (origins.size > 0) return [...origins.values()];
  if (before.length + added.length === 0) return undefined;
  throw new Fatal(
    EXIT.usage,
    `Project ${id} would have no origin left; give the new one with --origin in the same ` +
      'command, delete "origins" from the file to let every site send, ' +
      'or deactivate the project to let none send',
  );
}
