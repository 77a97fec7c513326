import { Fatal } from '../base/exit.ts';
import { MiB } from '../base/size.ts';
import { printable } from '../base/text.ts';
import type { StatusModel } from '../status/model.ts';
import { readToken } from '../status/token.ts';
import { ask, isRefused, type Reply, told } from './ask.ts';
import { doubtful, type Finding, toBeMended, well } from './finding.ts';
import type { Installation } from './installation.ts';

const CHECK = 'health';
/** Strangers' samples are part of it. */
const SNAPSHOT_BYTES_MAX = 32 * MiB;
/** They name files, and the command that mends them comes last. */
const WARNING_LENGTH_MAX = 1000;

/** What the status page shows at the moment; undefined where nothing tells. */
export type AskSnapshot = () => Promise<StatusModel | undefined>;

interface Told {
  readonly findings: readonly Finding[];
  readonly askSnapshot: AskSnapshot;
}

/**
 * What the operator's listener says of the collector.
 * @param address its own, as seen from this machine; undefined where it is off.
 */
export async function checkStatus(
  options: Pick<Installation, 'status' | 'status-token-file'>,
  address: string | undefined,
  isRunning: boolean,
): Promise<Told> {
  if (address === undefined) {
    const todo = 'Leave --status at its default, which only this machine reaches';
    return nothing(
      doubtful(CHECK, '--status is off', 'nothing tells whether views are taken', todo),
    );
  }
  let token: string | undefined;
  try {
    token = await readToken(options);
  } catch (error) {
    if (!(error instanceof Fatal)) throw error;
    return nothing(
      doubtful(CHECK, error.message, 'viewlog does not start', 'openssl rand -hex 16 makes one'),
    );
  }
  const reply = await ask(`${address}/readyz`, {});
  if (!('failure' in reply && isRefused(reply.failure))) {
    const isViewlog = healthIn(reply) !== undefined;
    // Nobody else is shown the token.
    const headers = token === undefined || !isViewlog ? {} : { Authorization: `Bearer ${token}` };
    const findings = findingsOf(address, await ask(`${address}/readyz`, { headers }));
    if (!isViewlog) return nothing(...findings);
    return { findings, askSnapshot: () => snapshotOf(address, headers) };
  }
  if (!isRunning) return nothing();
  const todo = "Give this the collector's own --status, which its second line tells";
  return nothing(
    doubtful(CHECK, `Nobody answers at ${address}`, 'health is told elsewhere, or not', todo),
  );
}

const nothing = (...findings: Finding[]): Told => ({
  findings,
  askSnapshot: () => Promise.resolve(undefined),
});

async function snapshotOf(
  address: string,
  headers: Record<string, string>,
): Promise<StatusModel | undefined> {
  const reply = await ask(`${address}/status.json`, { headers }, SNAPSHOT_BYTES_MAX);
  if ('failure' in reply || reply.status !== 200) return undefined;
  return JSON.parse(reply.body) as StatusModel;
}

function findingsOf(address: string, reply: Reply): Finding[] {
  const health = healthIn(reply);
  if (health === undefined) {
    const what = `Somebody else answers at ${address}: ${told(reply)}`;
    return [toBeMended(CHECK, what, 'viewlog cannot listen there', 'Choose another --status')];
  }
  if (health.status !== 'ready') {
    const what = `Not ready: ${health.reasons.join('; ') || 'why, only the token gets told'}`;
    const todo = '"viewlog help trouble", and journalctl -u viewlog -p warning';
    return [toBeMended(CHECK, what, 'every view is refused', todo)];
  }
  if (health.warnings.length === 0) return [well(CHECK, `Ready, says ${address}/readyz`)];
  const todo = `See ${address}/`;
  return health.warnings.map((text) => doubtful(CHECK, text, 'the collector warns of it', todo));
}

function healthIn(reply: Reply) {
  if ('failure' in reply) return undefined;
  try {
    const { status, reasons, warnings } = JSON.parse(reply.body) as Record<string, unknown>;
    if (status !== 'ready' && status !== 'not ready') return undefined;
    return { status, reasons: texts(reasons), warnings: texts(warnings) };
  } catch {
    return undefined;
  }
}

const texts = (list: unknown): string[] =>
  Array.isArray(list) ? list.map((text) => printable(String(text), WARNING_LENGTH_MAX)) : [];
