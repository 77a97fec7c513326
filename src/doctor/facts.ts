import { ask } from '../base/ask.ts';
import { askHolder } from '../disk/lock.ts';
import { ownAddress } from '../http/listener.ts';
import { exampleOrigin } from '../projects/origins.ts';
import type { Parsed } from '../projects/parse.ts';
import { readProjectsFile } from '../projects/projects-file.ts';
import { type Chosen, placeOf } from '../status/shell-commands.ts';
import type { StatusModel } from '../status/model.ts';
import { readToken } from '../status/token.ts';
import { fieldsOf, preflightFrom } from './reply.ts';
import { probeDisk } from './probe-disk.ts';
import { probeProxy } from './proxy.ts';

/** Everything that the checks judge. */
export type Facts = Awaited<ReturnType<typeof gatherFacts>>;

type Options = Chosen &
  Parameters<typeof readToken>[0] & {
    readonly status: 'off' | { readonly host: string; readonly port: number };
    /** The address that pages post to, with `/view`. */
    readonly url: string | undefined;
    readonly 'probe-project': string | undefined;
  };

/** The Origin of no page: nobody can own a name under `.invalid`. */
const NO_ORIGIN = 'https://viewlog-doctor.invalid';

/**
 * Looks at the installation, and changes nothing.
 * @param askedPort the collector's, if one was chosen.
 */
export async function gatherFacts(options: Options, askedPort: number | undefined) {
  const { url, 'probe-project': project } = options;
  const commandLine = placeOf(options, ownAddress(options));
  const { data: askedData } = commandLine;
  const holder = askedData ? await askHolder(askedData).catch(() => undefined) : undefined;
  const running = typeof holder === 'object' ? holder : undefined;
  const status = await askStatus(running?.status, options);
  const settings = status.overview?.place ?? commandLine;
  const { data } = settings;
  const address = running?.address ?? (settings.url || commandLine.url);
  const projects = await readProjectsFile(settings.projects);
  const origin = senderOf(projects, project) ?? NO_ORIGIN;
  const nowMs = Date.now();
  return {
    nowMs,
    runtime: runtimeHere(),
    /** `undefined` if the runtime does not reveal the user (Deno without --allow-sys=uid). */
    ownUid: await Promise.resolve()
      .then(() => process.getuid?.())
      .catch(() => undefined),
    /** The command line's data directory, absolute; `undefined` if views go to a stream. */
    askedData,
    /** The command line's port; `undefined` if it was not chosen. */
    askedPort,
    /** The running collector's own settings, else those of the command line; its address. */
    settings: { ...settings, url: address },
    /** `undefined` if views go to a stream. */
    disk: data === undefined ? undefined : await probeDisk(data, settings, nowMs),
    projects,
    /** Which process holds the data directory; `undefined` if this user may not ask, too. */
    holder,
    /** The answer at the collector's address. */
    reply: await ask(`${address}/view`, preflightFrom(NO_ORIGIN)),
    status,
    /** If `--url` is given. */
    proxy: url ? await probeProxy(url, origin, settings['max-view'], project) : undefined,
  };
}

/**
 * Asks the status server: `reply` is its answer to `/readyz`, `isReady` is missing if something else
 * answers, `overview` if it needs a token.
 * @param named the address that the process with the lock names; by default that of the options.
 */
async function askStatus(named: string | undefined, options: Options) {
  const own = options.status === 'off' ? undefined : ownAddress(options.status);
  const address = named ?? own;
  if (address === undefined) return { address };
  const reply = await ask(`${address}/readyz`);
  const { status } = fieldsOf(reply);
  if (status !== 'ready' && status !== 'not ready') return { address, reply };
  // Only this request carries the token. Without a token the status server answers with less.
  const token = await readToken(options).catch(() => undefined);
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const fields = fieldsOf(await ask(`${address}/status.json`, { headers }));
  const overview = 'place' in fields ? (fields as unknown as StatusModel) : undefined;
  return { address, reply, isReady: status === 'ready', overview };
}

/** Returns an origin from which a project's pages may send. */
function senderOf(reading: Parsed, project: string | undefined): string | undefined {
  const sender = activeIn(reading).find(({ id, origins }) => (project ? id === project : origins));
  return sender?.origins?.map(exampleOrigin)[0];
}

export const activeIn = (reading: Parsed) =>
  'faults' in reading ? [] : reading.file.projects.filter(({ active }) => active ?? true);

function runtimeHere() {
  const { versions, platform } = process;
  const { deno, bun, node } = versions as Record<string, string | undefined>;
  const name = deno ? ('Deno' as const) : bun ? ('Bun' as const) : ('Node' as const);
  return { name, version: deno ?? bun ?? node ?? '', platform: platform as string };
}
