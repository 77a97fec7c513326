import { EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest, printable } from '../base/text.ts';
import { SERVE_OPTIONS } from '../serve.ts';
import { defineCommand } from './command.ts';
import { type Installation, readInstallation } from './example/read-installation.ts';
import { EXAMPLES } from './example/list.ts';

/** Prints a file for another program, made from this installation's settings. */
export const example = defineCommand({
  name: 'example',
  operands: '[NAME]',
  summary: 'prints a file for systemd, a proxy, a container, metrics or a shipper; lists them',
  examples: [
    'viewlog example',
    'viewlog example systemd --data /var/lib/viewlog > viewlog.service',
  ],
  options: SERVE_OPTIONS,
  async run(settings, operands, { print, note, log }) {
    const [name, more] = operands;
    if (name === undefined) {
      print(list());
      return EXIT.done;
    }
    const chosen = more === undefined ? EXAMPLES.get(name) : undefined;
    if (chosen === undefined) {
      note(list());
      throw unknownExample(operands.join(' '));
    }
    const installation = readInstallation(settings);
    const text = chosen.textFor(installation);
    if (USES_OWNER.has(name) && installation.isDirMissing) log.warn(missing(installation));
    print(text);
    return EXIT.done;
  },
});

const USES_OWNER = new Set(['systemd', 'dockerfile', 'compose']);

function missing({ dir, owner: { user, uid } }: Installation): string {
  const shown = printable(dir, Infinity);
  return `There is no "${shown}" yet, whose owner is the user to run as: taken for ${user} (${uid})`;
}

function unknownExample(typed: string): Fatal {
  const near = nearest(typed, EXAMPLES.keys());
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return new Fatal(EXIT.usage, `There is no example "${echo(typed)}"${hint}`);
}

function list(): string {
  const width = Math.max(...Array.from(EXAMPLES.keys(), (name) => name.length));
  return Array.from(EXAMPLES, ([name, { summary }]) => `${name.padEnd(width)}  ${summary}`).join(
    '\n',
  );
}
