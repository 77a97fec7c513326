import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import * as commands from '../installation/commands.ts';
import { type Announced, type Installation, withOwners } from '../installation/installation.ts';
import { admit } from '../collector/admit.ts';
import { textOfBody } from '../collector/read-text.ts';
import { EXIT, Fatal, orElse } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { lastStart } from '../disk/last-start.ts';
import { cannotRead } from '../disk/lines.ts';
import { correctedOrigin, exampleOrigin } from '../projects/origins.ts';
import { loadProjects, type Projects } from '../projects/project-list.ts';
import { sampleOf } from '../status/counts.ts';
import { lastEntryOf } from '../status/saved-counts.ts';
import { meantBy } from '../status/model.ts';
import { faultWords, fixLine } from '../status/problem-words.ts';
import { readRefusedLine, type StoredRefusal } from '../store/refused/refused-line.ts';
import { readView } from '../view/read-view.ts';
import { lineFieldsOf, readHead } from '../view/line.ts';
import { isRefusal, type Refusal, REFUSALS, tooLarge } from '../view/refusal.ts';
import { remedyOf } from '../view/remedy.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { readSettings } from '../settings.ts';
import { checkOrigins } from './activate.ts';
import { defineCommand } from './command.ts';

/**
 * Prints how `POST /view` would answer a view, and why. Runs the collector's own checks, and stores
 * nothing. Exit 0 if the view would be accepted, 65 if the view would be refused.
 */
export const explain = defineCommand({
  name: 'explain',
  operands: '[FILE]',
  summary: 'shows how viewlog would answer a view (FILE or stdin)',
  examples: [
    'viewlog explain view.json --origin https://www.example.com',
    'tail -n 1 /var/lib/viewlog/refused-2026-01-31.ndjson | viewlog explain --data /var/lib/viewlog',
  ],
  options: ['origin', 'data', 'projects', 'max-view'],
  optionHelp: {
    origin: 'Origin header of the request, such as https://www.example.com',
    'max-view': 'largest view (default: that of the last start in --data)',
  },
  async run(settings, operands, { print, note, self }) {
    const viewBytesMax = await limitOf(settings, self);
    const of = await withOwners(self);
    // A page without an origin sends the word "null".
    const origins = settings.origin.filter((one) => one !== 'null');
    checkOrigins('origin', origins);
    const [file = '-'] = operands;
    if (/^\s*[{[]/.test(file)) {
      const [given] = settings.origin.slice(-1);
      const pipe = commands.explain(of, file, { origin: given });
      throw new Fatal(EXIT.usage, `explain takes a FILE, not a view. To pipe the view: ${pipe}`);
    }
    const projects = await loadProjects(settings.projects);
    if (file === '-' && isatty(0)) note('Enter a view, then Ctrl-D on a line of its own.');
    const bytes = await readInput(file);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const last = commands.explainLast(of, file, isGzip);
    if (isGzip)
      throw new Fatal(EXIT.usage, `The file is compressed. For its last line, run: ${last}`);
    if (file === '-' && bytes.length === 0) {
      const what = 'stdin is empty, but explain takes one view';
      throw new Fatal(EXIT.usage, `${what}. For example: ${last}`);
    }
    const stored = refusedIn(bytes.toString().trim(), last);
    const origin = settings.origin.at(-1) ?? stored?.origin;
    const body = stored === undefined ? bytes : Buffer.from(stored.text);
    const { length } = body;
    const text = length > viewBytesMax ? tooLarge(length, viewBytesMax) : textOfBody(body);
    const rules = { projects, viewBytesMax, now: Date.now };
    const verdict = typeof text === 'string' ? admit(readView(text), origin, rules) : text;
    if (!isRefusal(verdict)) {
      print(`201: the view would be stored, for project ${verdict.project}`);
      return EXIT.done;
    }
    print(describe(verdict));
    const sample = sampleOf(verdict, origin, body.toString(), Date.now());
    const remedy = remedyOf({
      ...sample,
      meant: correctedOrigin(sample.origin ?? ''),
      project: projects.find(sample.project ?? ''),
      viewBytesMax,
    });
    const hint =
      remedy.kind === 'check-proxy'
        ? 'Complete the view: its JSON ends without the closing "}".'
        : await hintFor({ sample, remedy, fixedMs: undefined }, projects, of);
    print(hint);
    return EXIT.badData;
  },
});

/** Returns `--max-view`, or else that of the viewlog that last started in the data directory. */
async function limitOf(
  settings: { readonly data: string; readonly 'max-view': number },
  { chosen }: Announced,
): Promise<number> {
  const name = 'max-view';
  const last = chosen[name] ? undefined : await lastStart(settings.data);
  const value = last?.chosen[name]?.text;
  if (value === undefined) return settings[name];
  return readSettings([{ name, value }], [name], () => undefined)[name];
}

/**
 * Returns the refused view that a file's line contains; `undefined` if the text is a view itself.
 * @param last the command that explains the last line.
 * @throws {Fatal} exit 64 for the line of an accepted view, part of a line, or several lines.
 */
function refusedIn(text: string, last: string): StoredRefusal | undefined {
  // By default, jq prints one line as several.
  const line = text.includes('\n') ? orElse(() => JSON.stringify(JSON.parse(text)), text) : text;
  const refused = readRefusedLine(line);
  const [first, ...others] = line.split('\n') as [string, ...string[]];
  if (refused !== undefined) return refused;
  if (readRefusedLine(first) !== undefined) {
    const what = `The file has ${plural(others.length + 1, 'line')}, but explain takes one view`;
    throw new Fatal(EXIT.usage, `${what}. For the last one, run: ${last}`);
  }
  if (readHead(first) === undefined) return undefined;
  const what = lineFieldsOf(first).startsWith('{"code":')
    ? 'This line of a refused view is damaged or incomplete; explain takes the whole line'
    : `${others.length === 0 ? 'This line is a stored view, which was' : 'These lines are stored views, which were'} accepted; explain takes a view as a page sends it`;
  throw new Fatal(EXIT.usage, what);
}

async function readInput(file: string): Promise<Buffer> {
  try {
    return file === '-' ? await buffer(process.stdin) : await readFile(file);
  } catch (error) {
    throw cannotRead(file, error);
  }
}

/** Returns the status and code, the detail, and each fault on a line of its own. */
function describe({ code, detail, issues = [] }: Refusal): string {
  const answer = `${REFUSALS[code].status} ${code}: ${printable(detail, 1000)}`;
  if (issues.length === 0) return answer;
  // The detail calls the faults "issues".
  return [answer, 'issues:', ...issues.map((issue) => `  ${faultWords(issue)}`)].join('\n');
}

/** Returns the fix as a line that ends with a command, if there is one. */
async function hintFor(
  refused: Parameters<typeof fixLine>[0],
  all: Projects,
  of: Installation,
): Promise<string> {
  const { sample, remedy } = refused;
  const { project: id = '' } = sample;
  const project = all.find(id);
  const isUnlisted = project === undefined && sample.code === 'project-not-activated';
  const dir = of.data ?? dirname(of.projects ?? '');
  const last = isUnlisted ? await lastEntryOf(id, dir) : undefined;
  if (last !== undefined) {
    const again = commands.activateAsWas(of, last, all.operator);
    return `Project ${id} was removed from the projects file. If the id is wrong, correct it in the script of the page. To list the project again: ${again}`;
  }
  const kind = project ? 'project' : 'unlisted';
  const sender = { id, kind, active: project?.active === true, removed: undefined } as const;
  const meant = meantBy({ ...sender, reasons: [refused] }, all);
  if (remedy.kind !== 'send-origin') return fixLine(refused, { id, active: false, meant }, of);
  const example = printable(exampleOrigin(project!.origins![0]!));
  return `To check it as if a page had sent it, add: --origin ${shellQuoted(example)}`;
}
