import { EXIT, Fatal } from '../base/exit.ts';
import { originKey } from './origins.ts';
import type { ProjectEntry } from './projects-schema.ts';

/** The limit of a new project, unless the operator gives another. */
const VIEWS_PER_MINUTE = 6000;

/** A change of a project; `undefined` leaves a field unchanged. Every origin must be valid. */
export interface Change {
  readonly name: string | undefined;
  readonly contact: string | undefined;
  readonly maxViewsPerMinute: number | undefined;
  readonly origins: readonly string[];
  readonly removedOrigins: readonly string[];
}

/**
 * Returns the project, changed and active.
 * @param before `undefined` if it isn't listed.
 * @param earlier the entry that it had before its removal: what the change leaves out stays as it
 *   was, except the origins.
 * @throws {Fatal} exit 64 if no origin would be left, because then every site could send.
 */
export function changeProject(
  before: ProjectEntry | undefined,
  id: string,
  change: Change,
  earlier: ProjectEntry | undefined,
): ProjectEntry {
  const last = before ? undefined : (earlier ?? { maxViewsPerMinute: VIEWS_PER_MINUTE });
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const { name, contact, maxViewsPerMinute }: Partial<ProjectEntry> = {
    ...last,
    ...Object.fromEntries(given),
  };
  const origins = originsAfter(id, before?.origins, change);
  const isActive = before !== undefined && before.active !== false;
  const active = isActive ? undefined : true;
  // In the order of the schema.
  const fields = Object.entries({ id, name, origins, active, maxViewsPerMinute, contact });
  const known = fields.filter(([, value]) => value !== undefined);
  return { ...before, id, ...Object.fromEntries(known) };
}

function originsAfter(
  id: string,
  before: readonly string[] = [],
  { origins: added, removedOrigins }: Change,
): string[] | undefined {
  const origins = new Map<string, string>();
  for (const origin of [...before, ...added]) {
    // An origin that is already in the file keeps its spelling.
    if (!origins.has(originKey(origin))) origins.set(originKey(origin), origin);
  }
  for (const origin of removedOrigins) origins.delete(originKey(origin));
  if (origins.size > 0) return [...origins.values()];
  if (before.length + added.length === 0) return undefined;
  throw new Fatal(
    EXIT.usage,
    `Project ${id} would have no origin left; add another with --origin in the same ` +
      'command, delete "origins" from the file to let every site send, ' +
      'or deactivate the project to let none send',
  );
}
