import { printable, shellQuoted } from '../base/text.ts';
import { originTest } from '../projects/origins.ts';
import type { ProjectEntry } from '../projects/projects-schema.ts';
import { activationOf, type Installation } from '../status/shell-commands.ts';
import { ask, isPreflightOfViewlog, preflightFrom } from './ask.ts';
import { doubtful, type Finding, well } from './finding.ts';

const CHECK = 'origin';

/**
 * Whether pages that stand beside `/view`, on the same origin, may send. None stand there where
 * viewlog has a host name of its own.
 * @param project the one that is asked about, if any.
 */
export async function checkSite(
  url: string,
  active: readonly ProjectEntry[],
  project: string | undefined,
  { projectsPath, account }: Installation,
): Promise<Finding[]> {
  const { origin } = new URL(url);
  if (active.length === 0 || !(await isSite(origin))) return [];
  const sender = active.find(
    ({ id, origins }) =>
      (project === undefined || id === project) && (!origins || originTest(origins)(origin)),
  );
  if (sender !== undefined) {
    return [well(CHECK, `Pages of ${origin} may send, as those of project ${sender.id}`)];
  }
  const [only, ...others] = active;
  const id = project ?? (others.length === 0 ? only!.id : 'ID');
  const unlisted =
    project === undefined ? 'no active project lists' : `project ${project} does not list`;
  const what = `Pages stand at ${printable(origin)} too, an origin that ${unlisted}`;
  const todo = `${activationOf(id, undefined, projectsPath, account)} --origin ${shellQuoted(origin)}`;
  return [doubtful(CHECK, what, 'views of these pages are refused with 403', todo)];
}

/** Asks viewlog for nothing that it counts. */
async function isSite(origin: string): Promise<boolean> {
  const root = `${origin}/`;
  if (isPreflightOfViewlog(await ask(root, preflightFrom(origin)))) return false;
  const reply = await ask(root, {});
  if ('failure' in reply) return false;
  const { status, headers } = reply;
  const location = headers.get('location');
  if (status >= 300 && status < 400 && location !== null) {
    return URL.canParse(location, root) && new URL(location, root).origin === origin;
  }
  return status < 300 && /^text\/html\b/i.test(headers.get('content-type') ?? '');
}
