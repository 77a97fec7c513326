import { builtTexts } from '../base/built.ts';
import { EXIT, Fatal } from '../base/exit.ts';
import { echo, printable } from '../base/text.ts';
import { lastStart } from '../disk/last-start.ts';
import * as commands from '../installation/commands.ts';
import { type Announced, otherProjects } from '../installation/installation.ts';
import { OPTIONS, SERVE_OPTIONS } from '../settings.ts';
import { defineCommand, tableOf } from './command.ts';
import { type Installation, readInstallation } from './example/installation.ts';
import { type Value, VALUES } from './example/values.ts';

/** The examples by name, each with a summary. */
const EXAMPLES: Readonly<Record<string, string>> = {
  systemd: 'a systemd service that runs, reloads and restarts viewlog',
  archive: "a systemd service that archives a cluster's views",
  'systemd-socket': 'a systemd socket, so that restarts refuse no view',
  caddy: 'a Caddy site with viewlog behind it',
  nginx: 'an nginx site with viewlog behind it',
  dockerfile: 'a container image',
  compose: 'a Docker Compose service of that image',
  prometheus: 'a Prometheus scrape configuration',
  alerts: 'Prometheus alerting rules',
  'fluent-bit': 'a shipper configuration for Fluent Bit 3.2 or later',
  vector: 'a shipper configuration for Vector 0.30 or later',
  filebeat: 'a shipper configuration for Filebeat 8.15 or later',
  rsyslog: 'a shipper configuration for rsyslog 8.2006 or later',
  clickhouse: 'a ClickHouse table for the views, and how to load it',
};

/** Files that run viewlog as the owner of its directory. */
const USES_OWNER = new Set(['systemd', 'archive', 'dockerfile', 'compose']);

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
  async run(settings, operands, { print, log, self }) {
    if (operands.length === 0) {
      print(tableOf(Object.entries(EXAMPLES)).join('\n'));
      return EXIT.done;
    }
    const name = operands[0]!;
    if (!Object.hasOwn(EXAMPLES, name)) {
      const list = Object.keys(EXAMPLES).join(', ');
      throw new Fatal(EXIT.usage, `Unknown example "${echo(name)}"; choose one of ${list}`);
    }
    const installation = await readInstallation(settings, self);
    const text = fill(name, installation);
    const warning = USES_OWNER.has(name) ? warningAboutOwner(installation, name) : undefined;
    if (warning !== undefined) log.warn(warning);
    const missing = name === 'systemd' ? await warningAboutOptions(self) : undefined;
    if (missing !== undefined) log.warn(missing);
    print(text);
    return EXIT.done;
  },
});

/**
 * Returns a template with each `<<name>>` replaced by its value, or by the template of
 * that name. A line with a list is repeated for each item. A line that begins with `<<?name>>` is
 * left out if that value is empty.
 * @throws {Fatal} exit 64 if there is no such file for these settings.
 */
function fill(example: string, installation: Installation, template = example): string {
  const textOf = (name: string): string | undefined => builtTexts()[`${name}.template`];
  const valueFor = (name: string): Value =>
    textOf(name) === undefined
      ? VALUES[name]!(installation, example)
      : fill(example, installation, name);
  const filled = (line: string): string[] => {
    const [mark, condition, name = ''] = /<<(\??)(\w+)>>/.exec(line) ?? [];
    if (mark === undefined) return [line];
    const value = valueFor(name);
    if (condition === '?') return value === '' ? [] : filled(line.replace(mark, ''));
    return [value].flat().flatMap((item) => filled(line.replace(mark, () => `${item}`)));
  };
  return textOf(template)!.trimEnd().split('\n').flatMap(filled).join('\n');
}

/** Warns about options of the last start that the service would lack. */
async function warningAboutOptions(self: Announced): Promise<string | undefined> {
  const { data, chosen } = self;
  const last = data === undefined ? undefined : await lastStart(data);
  if (last?.role !== 'collector') return undefined;
  const lacking = SERVE_OPTIONS.flatMap((name) => {
    const choice = last.chosen[name];
    const isMissing = choice !== undefined && choice.text !== OPTIONS[name].fallback;
    return isMissing && !(name in chosen) ? [[name, choice] as const] : [];
  });
  const projects = otherProjects(self) ?? otherProjects(last) ?? self.projects;
  const all = { ...self, projects, chosen: { ...chosen, ...Object.fromEntries(lacking) } };
  const again = commands.systemd(all);
  if (again === commands.systemd(self)) return undefined;
  const where = `The last start in "${printable(data!, Infinity)}"`;
  return `${where} had options that this file lacks. To include them: ${again}`;
}

function warningAboutOwner(of: Installation, name: string): string | undefined {
  const { dir, isDirMissing, user, uid } = of;
  if (isDirMissing) {
    const isImage = name === 'dockerfile' || name === 'compose';
    const who = isImage ? `the user with uid ${uid}` : `the user ${user}`;
    return `"${dir}" doesn't exist. The file runs viewlog as ${who}; create the directory for that user first`;
  }
  if (uid !== 0) return undefined;
  const fix = 'give the directory to a user of its own with chown, and print the file again';
  return `"${printable(dir, Infinity)}" belongs to root, so the file runs viewlog as root; ${fix}`;
}
