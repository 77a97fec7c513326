import { readFile } from 'node:fs/promises';
import { admit } from '../collector/admit.ts';
import { decodeBody } from '../collector/read-text.ts';
import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { loadProjects } from '../projects/project-list.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal, type Refusal, REFUSALS } from '../view/refusal.ts';
import { printable } from '../base/text.ts';
import { defineCommand } from './command.ts';

/**
 * Says what `POST /view` would answer to a view and why, from the collector's own code, and stores
 * nothing. Exit 0 where the view would be taken, 65 where it would be refused.
 */
export const explain = defineCommand({
  name: 'explain',
  operands: '[FILE]',
  summary: 'says what POST /view would answer to a view (FILE or stdin), and why',
  examples: ['viewlog explain view.json --origin https://www.example.com'],
  options: ['origin', 'data', 'projects', 'max-view'],
  async run(settings, operands, { print }) {
    if (operands.length > 1 || settings.origin.length > 1) {
      throw new Fatal(EXIT.usage, 'viewlog explain takes one FILE and one --origin at most');
    }
    const projects = await loadProjects(settings.projects);
    const bytes = await readInput(operands[0]);
    const viewBytesMax = settings['max-view'];
    const text = decodeBody(bytes, viewBytesMax);
    const rules = { projects, viewBytesMax, now: Date.now };
    const verdict =
      typeof text === 'string' ? admit(readView(text), settings.origin[0], rules) : text;
    if (isRefusal(verdict)) {
      print(describe(verdict));
      return EXIT.badData;
    }
    print(`201: the view would be stored, for project ${verdict.project}`);
    return EXIT.done;
  },
});

async function readInput(file: string | undefined): Promise<Buffer> {
  try {
    if (file !== undefined && file !== '-') return await readFile(file);
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  } catch (error) {
    const what = file === undefined ? 'the view from stdin' : `"${file}"`;
    throw new Fatal(EXIT.ioError, `Cannot read ${what}: ${reasonOf(error)}`);
  }
}

function describe({ code, detail, issues = [] }: Refusal): string {
  const lines = issues.map(
    ({ field, message, received }) =>
      `  ${printable(field) || 'the view'} ${printable(message)} (received ${printable(received)})`,
  );
  return [`${REFUSALS[code].status} ${code}: ${printable(detail, 1000)}`, ...lines].join('\n');
}
