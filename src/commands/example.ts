import { EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest, printable } from '../base/text.ts';
import { SERVE_OPTIONS } from '../settings.ts';
import { defineCommand, tableOf } from './command.ts';
import { clickhouse } from './example/clickhouse.ts';
import { type Installation, readInstallation } from './example/installation.ts';
import { alerts, caddy, nginx, prometheus, shipper } from './example/neighbours.ts';
import { compose, dockerfile, systemd, systemdSocket } from './example/services.ts';

/** @throws {Fatal} if these settings have no such file. */
type TextFor = (installation: Installation) => string;

const EXAMPLES: readonly (readonly [name: string, summary: string, textFor: TextFor])[] = [
  ['systemd', 'a systemd service that runs, reloads and restarts viewlog', systemd],
  ['systemd-socket', 'a systemd socket, so that restarts refuse no view', systemdSocket],
  ['caddy', 'a Caddy site with viewlog behind it', caddy],
  ['nginx', 'an nginx site with viewlog behind it', nginx],
  ['dockerfile', 'a container image', dockerfile],
  ['compose', 'a Docker Compose service of that image', compose],
  ['prometheus', 'a Prometheus scrape configuration', prometheus],
  ['alerts', 'Prometheus alerting rules', alerts],
  ['fluent-bit', 'a shipper configuration for Fluent Bit 3.2 or later', shipper('fluent-bit')],
  ['vector', 'a shipper configuration for Vector 0.30 or later', shipper('vector')],
  ['filebeat', 'a shipper configuration for Filebeat 8.15 or later', shipper('filebeat')],
  ['rsyslog', 'a shipper configuration for rsyslog 8.2006 or later', shipper('rsyslog', 'syslog')],
  ['clickhouse', 'a ClickHouse table for the views, and how to load it', clickhouse],
];

/** These files run viewlog as the owner of its directory. */
const USES_OWNER = new Set(['systemd', 'dockerfile', 'compose']);

/** Prints a file for another program, filled in with this installation's settings. */
export const example = defineCommand({
  name: 'example',
  operands: '[NAME]',
  summary: 'prints a file for systemd, a proxy, Docker, Prometheus or a shipper, or lists them',
  examples: [
    'viewlog example',
    'viewlog example systemd --data /var/lib/viewlog > viewlog.service',
  ],
  options: SERVE_OPTIONS,
  async run(settings, operands, { print, note, log }) {
    const list = tableOf(EXAMPLES.map(([name, summary]) => [name, summary])).join('\n');
    const typed = operands.join(' ');
    const [, , textFor] = EXAMPLES.find(([name]) => name === typed) ?? [];
    if (operands.length === 0) print(list);
    else if (textFor === undefined) {
      note(list);
      const near = nearest(
        typed,
        EXAMPLES.map(([name]) => name),
      );
      const hint = near === undefined ? '' : `; did you mean ${near}?`;
      throw new Fatal(EXIT.usage, `There is no example "${echo(typed)}"${hint}`);
    } else {
      const installation = readInstallation(settings);
      const text = textFor(installation);
      const warning = USES_OWNER.has(typed) ? warningAboutOwner(installation) : undefined;
      if (warning !== undefined) log.warn(warning);
      print(text);
    }
    return EXIT.done;
  },
});

function warningAboutOwner({ dir, isDirMissing, owner }: Installation): string | undefined {
  const { user, uid } = owner;
  if (isDirMissing) {
    const who = `the user ${user} (uid ${uid})`;
    return `"${dir}" does not exist. The file runs viewlog as ${who}; create the directory for that user first`;
  }
  if (uid !== 0) return undefined;
  const fix = 'give the directory to a user of its own with chown, and print the file again';
  return `"${printable(dir, Infinity)}" belongs to root, so the file runs viewlog as root; ${fix}`;
}
