import { shellQuoted } from '../base/text.ts';

/** What an origin may consist of to become part of a command: nothing that a shell reads. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

/**
 * The command that activates a project, to be pasted into a shell. The origin is a stranger's
 * text: it is part of the command only where it is wholly a plain one.
 * @param id digits only.
 */
export function activationOf(id: string, origin: string | undefined, projectsPath: string): string {
  const from = origin !== undefined && PLAIN_ORIGIN.test(origin) ? ` --origin ${origin}` : '';
  return `viewlog activate ${id}${from} --projects ${shellQuoted(projectsPath)}`;
}
