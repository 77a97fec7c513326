import { EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest, printable } from '../base/text.ts';
import { SERVE_OPTIONS } from '../serve.ts';
import { defineCommand } from './command.ts';
import { type Installation, readInstallation } from './example/read-installation.ts';
import { EXAMPLES } from './example/list.ts';

/** Prints a file for another program, filled in with this installation's settings. */
export const example = defineCommand({
  name: 'example',
  operands: '[NAME]',
  summary:
    'prints a file for systemd, a proxy, a container, Prometheus or a shipper, or lists them',
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
    const doubt = USES_OWNER.has(name) ? doubtAboutOwner(installation) : undefined;
    if (doubt !== undefined) log.warn(doubt);
    print(text);
    return EXIT.done;
  },
});

const USES_OWNER = new Set(['systemd', 'dockerfile', 'compose']);

/** The files run viewlog as the owner of its directory. */
function doubtAboutOwner({ dir, isDirMissing, owner }: Installation): string | undefined {
  const shown = printable(dir, Infinity);
  const { user, uid } = owner;
  if (isDirMissing) {
    return `"${shown}" does not exist yet; the file runs viewlog as user ${user} (${uid}), so create it for that user`;
  }
  if (uid !== 0) return undefined;
  return `"${shown}" belongs to root, so the file runs viewlog as root; better: chown it to a user of its own, then print the file again`;
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
