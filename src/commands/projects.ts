import { EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import { loadProjects, type Project } from '../projects/project-list.ts';
import type { Settings } from '../settings.ts';
import { echo, printable } from '../base/text.ts';

const HEAD = ['ID', 'ACTIVE', 'NAME', 'ORIGINS', 'VIEWS/MINUTE', 'CONTACT'];

/** `viewlog projects`: lists the projects file as a table. */
export async function projects(settings: Settings, operands: string[]): Promise<ExitCode> {
  if (operands.length > 0) {
    throw new Fatal(EXIT.usage, `projects takes no argument, not "${echo(operands[0]!)}"`);
  }
  const listed = (await loadProjects(settings.projects)).all();
  if (listed.length === 0) {
    const name = printable(settings.projects, Infinity);
    console.log(`No projects in ${name}; "viewlog activate ID" adds one`);
    return EXIT.done;
  }
  console.log(tableOf([HEAD, ...listed.map(rowOf)]));
  return EXIT.done;
}

function rowOf(project: Project): string[] {
  return [
    project.id,
    project.active ? 'yes' : 'no',
    printable(project.name ?? '') || '-',
    project.origins?.map((origin) => printable(origin)).join(' ') ?? 'any',
    String(project.maxViewsPerMinute ?? 'no limit'),
    printable(project.contact ?? '') || '-',
  ];
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
