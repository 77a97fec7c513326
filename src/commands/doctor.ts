import { EXIT, Fatal } from '../base/exit.ts';
import { VERSION } from '../base/version.ts';
import { examine } from '../doctor/examine.ts';
import type { Finding, State } from '../doctor/finding.ts';
import { SERVE_OPTIONS } from '../serve.ts';
import { defineCommand } from './command.ts';
import { ownAddress } from '../http/own-address.ts';

/** The worst first. */
const STATES: readonly State[] = ['to be mended', 'doubtful', 'well'];

/** Exit 0, or 78 where anything is to be mended. */
export const doctor = defineCommand({
  name: 'doctor',
  operands: '',
  summary: 'looks over this box: what is well, doubtful or to be mended, and how',
  examples: [
    'viewlog doctor --data /var/lib/viewlog --url https://views.example.com',
    'sudo -u viewlog viewlog doctor --data /var/lib/viewlog',
  ],
  options: [...SERVE_OPTIONS, 'url', 'probe-project', 'json'],
  optionHelp: {
    host: "the collector's address",
    port: "the collector's port",
    url: 'address that pages post to, through the proxy: what it passes on (one request counts as refused)',
  },
  async run(settings, _, { print }) {
    const { url, 'probe-project': project, json } = settings;
    if (project !== undefined && url === undefined) {
      throw new Fatal(EXIT.usage, '--project sends one real view, so it needs --url');
    }
    const address = ownAddress(settings);
    const statusAddress = settings.status === 'off' ? undefined : ownAddress(settings.status);
    const addresses = { address, statusAddress, url };
    const now = Date.now;
    const findings = await examine({ installation: settings, ...addresses, project, now });
    const worst = STATES.find((state) => findings.some((finding) => finding.state === state))!;
    if (json) print(JSON.stringify({ version: VERSION, state: worst, findings }, null, 2));
    else print([...findings.map(lineOf), summaryOf(findings)].join('\n'));
    return worst === 'to be mended' ? EXIT.badConfiguration : EXIT.done;
  },
});

function lineOf({ check, state, what, why, todo }: Finding): string {
  const reason = why === undefined ? '' : `; ${why}`;
  const mend = todo === undefined ? '' : `. ${todo}`;
  return `${state.padEnd('to be mended'.length)}  ${check}: ${what}${reason}${mend}`;
}

/** `1 to be mended, 2 doubtful, 7 well` */
function summaryOf(findings: readonly Finding[]): string {
  const count = (state: State): number => findings.filter((one) => one.state === state).length;
  return STATES.map((state) => `${count(state)} ${state}`)
    .filter((text) => !text.startsWith('0'))
    .join(', ');
}
