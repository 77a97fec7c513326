import { EXIT, Fatal } from '../base/exit.ts';
import { VERSION } from '../base/built.ts';
import { exampleOf } from '../base/option.ts';
import { examine, STATES } from '../doctor/checks.ts';
import { gatherFacts } from '../doctor/facts.ts';
import type { Finding, State } from '../doctor/finding.ts';
import { OPTIONS, SERVE_OPTIONS } from '../settings.ts';
import { defineCommand } from './command.ts';

/** Examines the installation. Exit 78 if there is an error, else 0. */
export const doctor = defineCommand({
  name: 'doctor',
  summary: 'finds problems with this installation and says how to fix them',
  examples: [
    'viewlog doctor --data /var/lib/viewlog --url https://views.example.com',
    'sudo -u viewlog viewlog doctor --data /var/lib/viewlog',
  ],
  options: [...SERVE_OPTIONS, 'url', 'probe-project', 'json'],
  optionHelp: {
    host: 'address to check if no collector runs in --data',
    port: 'port to check; an error if the collector in --data uses another',
    url: 'also test the address that pages post to (adds one refused request to the metrics)',
  },
  optionNote:
    "If a collector runs in --data, the doctor uses that collector's options.\n" +
    'If one ran there, its options replace the defaults above.',
  async run(settings, _, { print, self }) {
    const { url, 'probe-project': project, json } = settings;
    if (project !== undefined && url === undefined) {
      const what = '--project sends one real view, so it needs --url';
      throw new Fatal(EXIT.usage, `${what}${exampleOf('--url', OPTIONS.url.parser)}`);
    }
    const findings = examine(await gatherFacts(settings, self));
    const worst = findings[0]?.state ?? 'ok';
    if (json) print(JSON.stringify({ version: VERSION, state: worst, findings }, null, 2));
    else print([...findings.map(linesOf), summaryOf(findings)].join('\n'));
    return worst === 'error' ? EXIT.badConfiguration : EXIT.done;
  },
});

/** Returns a finding as a line. Its fix and the fix's commands follow on lines of their own. */
function linesOf({ check, state, what, fix }: Finding): string {
  const finding = `${state.padEnd(INDENT.length - 2)}  ${check}: ${what}`;
  return fix === undefined ? finding : `${finding}\n${fix}`.replaceAll('\n', `\n${INDENT}`);
}

const INDENT = ' '.repeat('warning  '.length);

/** `1 error, 2 warnings, 7 ok` */
function summaryOf(findings: readonly Finding[]): string {
  const count = (state: State): number => findings.filter((one) => one.state === state).length;
  return STATES.filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}${state === 'ok' || count(state) === 1 ? '' : 's'}`)
    .join(', ');
}
