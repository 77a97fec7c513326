import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { exampleOf, viewUrl } from '../base/option.ts';
import { builtTexts } from '../base/built.ts';
import { printable } from '../base/text.ts';
import * as commands from '../installation/commands.ts';
import {
  absolute,
  type Announced,
  type Installation,
  withOwners,
} from '../installation/installation.ts';
import { faultsOf, readProjectsFile, type Reading } from '../projects/projects-file.ts';
import { typoOf } from '../projects/typo.ts';
import type { AsOwner } from '../disk/root.ts';
import { lastEntryOf } from '../status/saved-counts.ts';
import { isLoopback } from '../status/guard.ts';
import { collectorAddress, defineCommand, otherCollector, readAccess } from './command.ts';

/** The limit is small because every page of a site contains the script. */
const BYTES_MAX = 2000;

/**
 * Prints the script for a project's pages. The project need not be listed, because pages may be
 * ready before the collector is.
 */
export const snippet = defineCommand({
  name: 'snippet',
  operands: 'ID',
  summary: "prints the script for a project's pages",
  examples: ['viewlog snippet 1000001 --url https://views.example.com'],
  options: ['url', 'campaigns', 'host', 'port', 'data', 'projects'],
  optionHelp: {
    host: 'host of --url if no collector is running',
    port: 'port of --url if no collector is running',
  },
  async run(settings, operands, { print, note, log, self, asOwner }) {
    const id = operands[0]!;
    const { projects: path, campaigns } = settings;
    const { address, status = address, isRunning } = await collectorAddress(settings, self);
    const url = settings.url ?? viewUrl.read(address);
    if (url === undefined) {
      throw new Fatal(
        EXIT.usage,
        `Browsers can't reach this --host; give --url the public address${exampleOf('--url', viewUrl)}`,
      );
    }
    // In HTML, the script reads these marks as comments. In XHTML, they allow `&&` in the script.
    const script = `/*<![CDATA[*/${scriptOf(id, url, campaigns)}/*]]>*/`;
    const element = `<script>${script}</script>`;
    const excess = element.length + 1 - BYTES_MAX; // the script is ASCII; 1 is the newline
    if (excess > 0) {
      const much = plural(excess, 'character');
      throw new Fatal(EXIT.usage, `--url makes the script ${much} too long; use a shorter address`);
    }
    const { origin, hostname, protocol, port } = new URL(url);
    const isLocal = isLoopback(hostname);
    if (isLocal && port === new URL(status).port && status !== address) {
      log.warn(`${url} is the address of the status page; views go to ${address}`);
    } else if (isLocal) {
      log.warn(`Only browsers on this machine can reach ${url}; give --url the public address`);
    } else if (protocol === 'http:') {
      log.warn(
        `Pages on https can't send to ${url}; if yours are on https, give --url an https address`,
      );
    }
    const other = isLocal && isRunning === false ? await otherCollector(origin) : undefined;
    const doubts =
      other === undefined ? await doubtsAbout(id, { path, url, self, asOwner }) : [other];
    for (const doubt of doubts) log.warn(doubt);
    print(element);
    const hash = createHash('sha256').update(script).digest('base64');
    note(
      'Paste the script into your pages, after the title and before </head>, without changing it.',
    );
    if (isLocal) {
      note(
        'Only on pages whose address is localhost or 127.0.0.1, write <script data-local> instead of <script>.',
      );
    }
    for (const line of policyAdvice(`'sha256-${hash}'`, origin)) note(line);
    return EXIT.done;
  },
});

/** Returns what to change in a Content-Security-Policy, in words that can be followed literally. */
const policyAdvice = (hash: string, origin: string): readonly string[] => [
  'If your pages have a Content-Security-Policy, add two sources to it:',
  `  to connect-src: ${origin}`,
  `  to script-src-elem or, if the policy has none, to script-src: ${hash}`,
  'If the policy has a default-src but no connect-src, create connect-src: copy the sources of default-src',
  'and add the new source. Do the same for script-src if the policy has neither script-src-elem nor',
  "script-src. If the policy has no default-src, don't create either: a missing directive restricts nothing.",
  "Don't add the hash if its directive (or the default-src that you would copy) has 'unsafe-inline' but",
  "no nonce or hash: the hash would block the page's other inline scripts.",
  "If a directive is 'none', replace 'none' with the source.",
  'If a page has several policies, change each one.',
];

interface Page {
  readonly self: Announced;
  readonly asOwner: AsOwner;
  /** The projects file. */
  readonly path: string;
  readonly url: string;
}

/** Returns why the script may have the wrong id, and why its views would be refused. */
async function doubtsAbout(id: string, { path, url, self, asOwner }: Page): Promise<string[]> {
  const reading = await readProjectsFile(path);
  const last = await lastEntryOf(id, self.data ?? dirname(absolute(path)));
  const of = await withOwners(self);
  const access = 'faults' in reading ? await readAccess(reading.content, asOwner) : undefined;
  const listed = 'file' in reading ? reading.file.projects : [];
  const isKnown = last !== undefined || listed.some((one) => one.id === id);
  const near = isKnown ? undefined : typoOf(id, listed)?.id;
  const problems = problemsOf(reading, id, path, last, of, access);
  if (near === undefined) return [...problems];
  const typo = `${id} is one typo away from ${near}, which is listed; if you meant ${near}, run: ${commands.snippet(of, near, url)}`;
  return [typo, ...problems];
}

/**
 * Returns why the project's views would be refused.
 * @param last the project's last entry, if it was removed.
 * @param access how to read the projects file, if this user isn't allowed to.
 */
function problemsOf(
  reading: Reading,
  id: string,
  path: string,
  last: Awaited<ReturnType<typeof lastEntryOf>>,
  of: Installation,
  access: string | undefined,
): readonly string[] {
  if ('faults' in reading) {
    const effect = `This command couldn't check whether project ${id} is active`;
    const faults = faultsOf(reading).map((fault) => (access ? `${fault}; ${access}` : fault));
    return [...faults, effect];
  }
  const { operator, projects } = reading.file;
  const project = projects.find((listed) => listed.id === id);
  if (project !== undefined && project.active !== false) return [];
  const was = project === undefined && last;
  const fix = was ? commands.activateAsWas(of, was, operator) : commands.activate(of, id);
  const what = `${project === undefined ? "isn't listed" : 'is inactive'} in ${printable(path, Infinity)}`;
  const isOpen = (was || project)?.origins === undefined;
  const how = isOpen ? 'to accept them from every site' : 'to accept them';
  return [`Project ${id} ${what}, so its views are refused; ${how}, run: ${fix}`];
}

/** Returns the script as one line of ASCII text that can't end its own element. */
function scriptOf(id: string, url: string, keepsCampaigns: boolean): string {
  const script = builtTexts()[keepsCampaigns ? 'snippet --campaigns' : 'snippet']!;
  return script.replace('PROJECT', literal(id)).replace('VIEW_URL', () => literal(url));
}

/**
 * Returns a string literal of JavaScript, without a `<`, which could begin the script's end tag.
 */
const literal = (text: string): string => JSON.stringify(text).replaceAll('<', String.raw`\u003c`);
