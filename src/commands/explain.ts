import { readFile } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { admit } from '../collector/admit.ts';
import { textOf } from '../collector/read-text.ts';
import { EXIT, Fatal } from '../base/exit.ts';
import { cannotRead } from '../disk/lines.ts';
import { originKey } from '../projects/origins.ts';
import { loadProjects, type Project, type Projects } from '../projects/project-list.ts';
import { activationOf } from '../status/shell-commands.ts';
import { nearestIds } from '../status/unlisted-ids.ts';
import { type KeptView, readRefusedLine } from '../store/refused/refused-line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal, type Refusal, REFUSALS, sizeFault } from '../view/refusal.ts';
import { remedyOf } from '../view/remedy.ts';
import { KiB } from '../base/size.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { defineCommand } from './command.ts';

/**
 * Says what `POST /view` would answer to a view and why, from the collector's own code, and stores
 * nothing. Exit 0 where the view would be taken, 65 where it would be refused.
 */
export const explain = defineCommand({
  name: 'explain',
  operands: '[FILE]',
  summary: 'says what POST /view would answer to a view (FILE or stdin), and why',
  examples: [
    'viewlog explain view.json --origin https://www.example.com',
    'tail -n 1 /var/lib/viewlog/refused-2026-01-31.ndjson | viewlog explain --data /var/lib/viewlog',
  ],
  options: ['origin', 'data', 'projects', 'max-view'],
  async run(settings, operands, { print, note }) {
    if (operands.length > 1 || settings.origin.length > 1) {
      throw new Fatal(EXIT.usage, 'viewlog explain takes one FILE and one --origin at most');
    }
    const projects = await loadProjects(settings.projects);
    const [file = '-'] = operands;
    if (file === '-' && isatty(0))
      note('Type or paste a view; Ctrl-D on a line of its own ends it.');
    const bytes = await readInput(file);
    const record = recordIn(bytes.toString());
    const [origin = record?.origin] = settings.origin;
    if (record !== undefined) note(whatIsJudged(record, origin));
    const viewBytesMax = settings['max-view'];
    const body = record === undefined ? bytes : Buffer.from(record.text);
    const text = sizeFault(body.length, viewBytesMax) ?? textOf(body);
    const rules = { projects, viewBytesMax, now: Date.now };
    const verdict = typeof text === 'string' ? admit(readView(text), origin, rules) : text;
    if (isRefusal(verdict)) {
      const project = projects.find(verdict.project ?? '');
      print(describe(operatorsView(verdict, project, projects)));
      const hint = hintFor(verdict, project, origin, settings.projects);
      if (hint !== undefined) print(`  ${hint}`);
      return EXIT.badData;
    }
    print(`201: the view would be stored, for project ${verdict.project}`);
    return EXIT.done;
  },
});

async function readInput(file: string): Promise<Buffer> {
  try {
    if (file !== '-') return await readFile(file);
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  } catch (error) {
    throw cannotRead(file, error);
  }
}

/** What a line of the files of refused views holds, which may be laid out anew (`jq`). */
function recordIn(text: string): KeptView | undefined {
  const record = readRefusedLine(text.trim());
  if (record !== undefined) return record;
  try {
    return readRefusedLine(JSON.stringify(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

function whatIsJudged({ ts, code, origin: own }: KeptView, origin: string | undefined): string {
  const then = `refused with ${printable(String(code))} at ${printable(String(ts))}`;
  const whose = origin === own ? 'its own' : '--origin';
  const from = origin === undefined ? 'without an Origin' : `from ${printable(origin)} (${whose})`;
  return `This is a kept view, ${then}; what follows is of the view in it, ${from}`;
}

/**
 * A page is told whom to ask for activation: who reads this here would be told to ask themselves,
 * and may know which ids are listed, which no stranger is told.
 */
function operatorsView(
  refusal: Refusal,
  project: Project | undefined,
  projects: Projects,
): Refusal {
  const { code, project: id = '' } = refusal;
  if (code !== 'project-not-activated') return refusal;
  if (project !== undefined) {
    return { ...refusal, detail: `Project ${id} is listed, but inactive.` };
  }
  const near = nearestIds()(id, projects.all());
  const end = near === '' ? '.' : `; did you mean ${near}?`;
  return { ...refusal, detail: `Project ${id} is not listed${end}` };
}

/** What the operator can do about it, as a line that ends with what to type. */
function hintFor(
  { code, project: id = '', bytes }: Refusal,
  project: Project | undefined,
  origin: string | undefined,
  projects: string,
): string | undefined {
  const remedy = remedyOf({ code, project, origin, bytes });
  if (remedy.kind === 'activate') {
    return `To accept it: ${activationOf(id, remedy.origin, projects)}`;
  }
  if (remedy.kind === 'add-origin') {
    return `To allow the origin: ${activationOf(id, remedy.origin, projects)}`;
  }
  if (remedy.kind === 'send-origin') {
    const [first = ''] = project?.origins ?? [];
    const example = printable(originKey(first).replace('*', 'www'));
    return `To check it as if a page had sent it, add: --origin ${shellQuoted(example)}`;
  }
  if (remedy.kind === 'raise-max-view') {
    return `To accept it, start viewlog with: --max-view ${remedy.bytes / KiB}KiB`;
  }
  return undefined;
}

function describe({ code, detail, issues = [] }: Refusal): string {
  const lines = issues.map(
    ({ field, message, received }) =>
      `  ${printable(field) || 'the view'} ${printable(message)} (received ${printable(received)})`,
  );
  // Named as in the answer, whose detail points at them.
  const heading = lines.length > 0 ? ['issues:'] : [];
  const first = `${REFUSALS[code].status} ${code}: ${printable(detail, 1000)}`;
  return [first, ...heading, ...lines].join('\n');
}
