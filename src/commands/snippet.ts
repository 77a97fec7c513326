import { createHash } from 'node:crypto';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { exampleOf, viewUrl } from '../base/option.ts';
import { builtTexts } from '../base/built.ts';
import { printable } from '../base/text.ts';
import * as commands from '../installation/commands.ts';
import { withOwners } from '../installation/installation.ts';
import { faultsOf, readProjectsFile, type Reading } from '../projects/projects-file.ts';
import { isLoopback } from '../status/guard.ts';
import { collectorAddress, defineCommand } from './command.ts';

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
  async run(settings, operands, { print, note, log, self }) {
    const id = operands[0]!;
    const { projects: path, campaigns } = settings;
    const url = settings.url ?? viewUrl.read((await collectorAddress(settings, self)).address);
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
    const { origin, hostname, protocol } = new URL(url);
    if (isLoopback(hostname)) {
      log.warn(`Only browsers on this machine can reach ${url}; give --url the public address`);
    } else if (protocol === 'http:') {
      log.warn(
        `Pages on https can't send to ${url}; if yours are on https, give --url an https address`,
      );
    }
    const activate = commands.activate(await withOwners(self), id);
    const reading = await readProjectsFile(path);
    for (const problem of problemsOf(reading, id, path, activate)) log.warn(problem);
    print(element);
    const hash = createHash('sha256').update(script).digest('base64');
    for (const line of policyAdvice(`'sha256-${hash}'`, origin)) note(line);
    return EXIT.done;
  },
});

/** Returns what to change in a Content-Security-Policy, in words that can be followed literally. */
const policyAdvice = (hash: string, origin: string): readonly string[] => [
  'If your pages have a Content-Security-Policy, add a source to two of its directives:',
  `  connect-src: ${origin}`,
  `  script-src-elem, or else script-src: ${hash}`,
  "    Leave this one out if the directive has 'unsafe-inline', but no nonce and no hash:",
  "    the hash would block the page's other inline scripts.",
  'If a directive is missing, create it and copy the sources of default-src into it first;',
  "if default-src is missing too, add nothing. Remove 'none' from a directive that you add a source to.",
];

/** Returns why the project's views would be refused. */
function problemsOf(reading: Reading, id: string, path: string, fix: string): readonly string[] {
  if ('faults' in reading) return faultsOf(reading);
  const project = reading.file.projects.find((listed) => listed.id === id);
  if (project !== undefined && project.active !== false) return [];
  const what = `${project === undefined ? "isn't listed" : 'is inactive'} in ${printable(path, Infinity)}`;
  return [`Project ${id} ${what}, so its views are refused; run: ${fix}`];
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
