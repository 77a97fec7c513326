import { plural } from '../base/format.ts';
import { unpacked } from '../base/built.ts';
import { createHash } from 'node:crypto';
import { EXIT, Fatal } from '../base/exit.ts';
import { Problem, viewUrl } from '../base/option.ts';
import { printable } from '../base/text.ts';
import { readProjectsFile } from '../projects/projects-file.ts';
import { readId } from './activate.ts';
import { defineCommand } from './command.ts';
import { ownAddress } from '../http/own-address.ts';

/** `script.ts`, put here as text by build.mjs, so that viewlog stays one file. */
declare const SNIPPETS: string;

/** What every page of a site may bear: it is part of each. */
const BYTES_MAX = 1500;

/**
 * Prints the script for a project's pages, which may be ready before the collector is: exit 64
 * where the project is not listed, its script printed all the same.
 */
export const snippet = defineCommand({
  name: 'snippet',
  operands: 'ID',
  summary: "prints the script for a project's pages",
  examples: ['viewlog snippet 1000001 --url https://views.example.com'],
  options: ['url', 'campaigns', 'host', 'port', 'data', 'projects'],
  optionHelp: { host: "the collector's address", port: "the collector's port" },
  async run(settings, operands, { print, note, log }) {
    const id = readId('snippet', operands);
    const url = settings.url ?? viewUrl(ownAddress(settings));
    if (url instanceof Problem) throw new Fatal(EXIT.usage, '--host is no address; give --url');
    const script = scriptOf(id, url, settings.campaigns);
    const element = `<script>${script}</script>`;
    const excess = element.length + 1 - BYTES_MAX; // ASCII, and a newline
    if (excess > 0) {
      throw new Fatal(
        EXIT.usage,
        `--url is ${plural(excess, 'character')} too long for a small script`,
      );
    }
    const { warnings, fault } = await doubtsAbout(id, settings.projects);
    for (const warning of warnings) log.warn(warning);
    if (isLoopback(url)) {
      log.warn(
        `Only browsers on this machine reach ${url}; others need an address that they reach: --url`,
      );
    }
    print(element);
    note(
      "Pages that have a Content-Security-Policy need in it: script-src 'sha256-" +
        `${createHash('sha256').update(script).digest('base64')}'; ` +
        `connect-src ${new URL(url).origin}`,
    );
    if (fault !== undefined) throw new Fatal(EXIT.usage, fault);
    return EXIT.done;
  },
});

/** @returns ASCII text of one line, which HTML takes for nothing but script. */
function scriptOf(id: string, url: string, keepsCampaigns: boolean): string {
  if (typeof SNIPPETS === 'undefined') return '/* Only the built viewlog has it. */';
  const script = unpacked(SNIPPETS)[keepsCampaigns ? 'campaigns' : 'plain']!;
  return script.replace('(PROJECT,VIEW_URL)', () => `(${literal(id)},${literal(url)})`);
}

/** As a string of JavaScript; without a `<`, which could begin the end of the script. */
const literal = (text: string): string => JSON.stringify(text).replaceAll('<', String.raw`\u003c`);

const isLoopback = (url: string): boolean =>
  /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);

/** Why views of this project would be refused. */
async function doubtsAbout(
  id: string,
  path: string,
): Promise<{ readonly warnings: readonly string[]; readonly fault?: string }> {
  const reading = await readProjectsFile(path);
  if ('faults' in reading) return { warnings: reading.faults };
  const project = reading.file.projects.find((listed) => listed.id === id);
  const name = printable(path, Infinity);
  const refused = (state: string): string =>
    `Project ${id} is ${state} in ${name}, its views refused; "viewlog activate ${id}"`;
  if (project === undefined) return { warnings: [], fault: refused('not listed') };
  return { warnings: project.active === false ? [refused('inactive')] : [] };
}
