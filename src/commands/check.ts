import { EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import { readProjectsFile } from '../projects/projects-file.ts';
import { summaryOf } from '../projects/project-list.ts';
import type { Settings } from '../settings.ts';
import { echo, printable } from '../base/text.ts';

/** `viewlog check`: says whether the projects file is sound, or all that is wrong with it. */
export async function check(settings: Settings, operands: string[]): Promise<ExitCode> {
  if (operands.length > 0) {
    throw new Fatal(EXIT.usage, `check takes no argument, not "${echo(operands[0]!)}"`);
  }
  const reading = await readProjectsFile(settings.projects);
  if ('faults' in reading) {
    for (const fault of reading.faults) console.error(fault);
    return EXIT.badConfiguration;
  }
  const name = printable(settings.projects, Infinity);
  console.log(`${name}: ${summaryOf(reading.file.projects)}`);
  return EXIT.done;
}
