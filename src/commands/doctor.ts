import { EXIT, Fatal, orElse } from '../base/exit.ts';
import { VERSION } from '../base/built.ts';
import { examine, STATES } from '../doctor/checks.ts';
import { gatherFacts } from '../doctor/facts.ts';
import type { Finding, State } from '../doctor/finding.ts';
import type { Announced, Chosen } from '../installation/installation.ts';
import { OPTIONS, readSettings, SERVE_OPTIONS } from '../settings.ts';
import { defineCommand } from './command.ts';

/** Examines the installation. Exit 78 if there is an error, else 0. */
export const doctor = defineCommand({
  name: 'doctor',
  summary: 'checks this installation: problems, and how to fix them',
  examples: [
    'viewlog doctor --data /var/lib/viewlog --url https://views.example.com',
    'sudo -u viewlog viewlog doctor --data /var/lib/viewlog',
  ],
  options: [...SERVE_OPTIONS, 'url', 'probe-project', 'json'],
  optionHelp: {
    host: "the collector's address, if it is not running",
    port: "the collector's port, if it is not running",
    url: 'address that pages post to, through the proxy; one request counts as refused (405)',
  },
  async run(settings, _, { print, self }) {
    const { url, 'probe-project': project, port, json } = settings;
    if (project !== undefined && url === undefined) {
      throw new Fatal(EXIT.usage, '--project sends one real view, so it needs --url');
    }
    const asked = port === Number(OPTIONS.port.fallback) ? undefined : port;
    const chosen = Object.fromEntries(
      SERVE_OPTIONS.flatMap((name) => (name in self.chosen ? [[name, self.chosen[name]!]] : [])),
    );
    const findings = examine(
      await gatherFacts(settings, {
        self: { ...self, chosen },
        port: asked,
        valuesOf: (other) => valuesOf(settings, other),
        differencesFrom: (running) => differences(chosen, running),
      }),
    );
    const worst = findings[0]?.state ?? 'ok';
    if (json) print(JSON.stringify({ version: VERSION, state: worst, findings }, null, 2));
    else print([...findings.map(lineOf), summaryOf(findings)].join('\n'));
    return worst === 'error' ? EXIT.badConfiguration : EXIT.done;
  },
});

type DoctorSettings = Parameters<typeof gatherFacts>[0];

/** Options of another process that the checks need as values. */
const NEEDED = [
  'host',
  'port',
  'durability',
  'max-view',
  'min-free',
  'keep-days',
  'keep-refused-days',
  'max-refused',
  'nats-stream',
  'nats-replicas',
] as const;

function valuesOf(settings: DoctorSettings, { chosen }: Announced): DoctorSettings {
  const flags = NEEDED.flatMap((name) => {
    const text = chosen[name]?.text;
    return text === undefined ? [] : [{ name, value: text }];
  });
  return { ...settings, ...orElse(() => readSettings(flags, NEEDED, () => undefined), {}) };
}

/** These options decide what is examined, or have checks of their own. */
const NOT_COMPARED = new Set('store nats-creds port status-token-file url project log'.split(' '));

/**
 * Returns `--max-view 16KiB, not 32KiB` for each option that differs from the running collector's.
 */
function differences(chosen: Chosen, running: Announced): string[] {
  return SERVE_OPTIONS.flatMap((name) => {
    const asked = chosen[name]?.text;
    const { fallback, parser } = OPTIONS[name];
    const { status = '' } = running;
    const shown = name === 'status' ? status.replace(/^.*\//, '') : '';
    const current = shown || (running.chosen[name]?.text ?? fallback ?? '');
    if (asked === undefined || NOT_COMPARED.has(name)) return [];
    const isThere = [running.address, running.status].some((url) => url?.includes(`//${asked}`));
    const [a, b] = [asked, current].map((text) => JSON.stringify(parser.read(text)));
    return isThere || a === b ? [] : [`--${name} ${current}, not ${asked}`];
  });
}

/** Returns a line; a fix with commands has lines of its own below it. */
function lineOf({ check, state, what, fix }: Finding): string {
  const finding = `${state.padEnd(INDENT.length - 2)}  ${check}: ${what}`;
  if (fix?.includes('\n')) return `${finding}.\n${fix}`.replaceAll('\n', `\n${INDENT}`);
  return fix === undefined ? finding : `${finding}. ${fix}`;
}

const INDENT = ' '.repeat('warning  '.length);

/** `1 error, 2 warnings, 7 ok` */
function summaryOf(findings: readonly Finding[]): string {
  const count = (state: State): number => findings.filter((one) => one.state === state).length;
  return STATES.filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}${state === 'ok' || count(state) === 1 ? '' : 's'}`)
    .join(', ');
}
