import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { admit } from '../collector/admit.ts';
import { textOf } from '../collector/read-text.ts';
import { EXIT } from '../base/exit.ts';
import { cannotRead } from '../disk/lines.ts';
import { exampleOrigin } from '../projects/origins.ts';
import { loadProjects, type Projects } from '../projects/project-list.ts';
import { fixOf } from '../status/problem-words.ts';
import { readRefusedLine } from '../store/refused/refused-line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal, type Refusal, REFUSALS, sizeFault } from '../view/refusal.ts';
import { remedyOf } from '../view/remedy.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { defineCommand } from './command.ts';

/**
 * Says what `POST /view` would answer to a view and why, from the collector's own code, and stores
 * nothing. Exit 0 if it would be accepted, 65 if it would be refused.
 */
export const explain = defineCommand({
  name: 'explain',
  operands: '[FILE]',
  summary: 'shows how POST /view would answer a view (FILE or stdin), and why',
  examples: [
    'viewlog explain view.json --origin https://www.example.com',
    'tail -n 1 /var/lib/viewlog/refused-2026-01-31.ndjson | viewlog explain --data /var/lib/viewlog',
  ],
  options: ['origin', 'data', 'projects', 'max-view'],
  async run(settings, operands, { print, note }) {
    const { projects: path, 'max-view': viewBytesMax } = settings;
    const projects = await loadProjects(path);
    const [file = '-'] = operands;
    if (file === '-' && isatty(0)) note('Enter a view, then Ctrl-D on a line of its own.');
    const bytes = await readInput(file);
    const stored = readRefusedLine(bytes.toString().trim());
    const origin = settings.origin.at(-1) ?? stored?.origin;
    const body = stored === undefined ? bytes : Buffer.from(stored.text);
    const text = sizeFault(body.length, viewBytesMax) ?? textOf(body);
    const rules = { projects, viewBytesMax, now: Date.now };
    const verdict = typeof text === 'string' ? admit(readView(text), origin, rules) : text;
    if (!isRefusal(verdict)) {
      print(`201: the view would be stored, for project ${verdict.project}`);
      return EXIT.done;
    }
    print(describe(verdict, projects));
    print(`  ${hintFor(verdict, projects, origin, body.toString(), path)}`);
    return EXIT.badData;
  },
});

async function readInput(file: string): Promise<Buffer> {
  try {
    return file === '-' ? await buffer(process.stdin) : await readFile(file);
  } catch (error) {
    throw cannotRead(file, error);
  }
}

/** The status and code, the detail, and each fault on a line. */
function describe(refusal: Refusal, projects: Projects): string {
  const { code, issues = [] } = refusal;
  const lines = issues.map(
    ({ field, message, received }) =>
      `  ${printable(field) || 'the view'} ${printable(message)} (received ${printable(received)})`,
  );
  const detail = printable(operatorsDetail(refusal, projects), 1000);
  // "issues" is what the detail calls them.
  const heading = lines.length > 0 ? ['issues:'] : [];
  return [`${REFUSALS[code].status} ${code}: ${detail}`, ...heading, ...lines].join('\n');
}

/**
 * Returns the detail for the operator, who may know which ids are listed. The answer to a page
 * hides that from unknown senders, and names whom to ask.
 */
function operatorsDetail({ code, project: id = '', detail }: Refusal, projects: Projects): string {
  if (code !== 'project-not-activated') return detail;
  const isListed = projects.find(id) !== undefined;
  return `Project ${id} is ${isListed ? 'listed, but inactive' : 'not listed'}.`;
}

/** Returns the fix as a line that ends with a command, if there is one. */
function hintFor(
  refusal: Refusal,
  projects: Projects,
  origin: string | undefined,
  text: string,
  projectsPath: string,
): string {
  const project = projects.find(refusal.project ?? '');
  const remedy = remedyOf({ ...refusal, project, origin });
  if (remedy.kind === 'send-origin') {
    const example = printable(exampleOrigin(project!.origins![0]!));
    return `To check it as if a page had sent it, add: --origin ${shellQuoted(example)}`;
  }
  const reason = { remedy, sample: { ...refusal, origin, text }, keptDays: [] };
  const { words, command = '' } = fixOf(reason, { projects: projectsPath });
  return [...words, ` ${command}`].join('').trimEnd();
}
