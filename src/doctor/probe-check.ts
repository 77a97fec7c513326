import { randomUUID } from 'node:crypto';
import { LATEST_MAX } from '../status/counts.ts';
import type { StatusModel } from '../status/model.ts';
import { doubtful, type Finding, well } from './finding.ts';

const CHECK = 'probe';
const NO_VIEW = 'One request was sent there that is no view';

/** What no other request begins with. */
export const newSign = (): string => `viewlog doctor ${randomUUID()}`;

/**
 * Whether what was sent to an address has come to the collector that is looked at.
 * @param snapshot that collector's, of after it was sent; undefined where nothing tells.
 */
export function checkProbe(
  url: string,
  sign: string,
  sentMs: number,
  snapshot: Pick<StatusModel, 'latestRefused'> | undefined,
): Finding {
  const counted = 'it is counted as refused there (400 or 413), and nothing is kept of it';
  const latest = snapshot?.latestRefused ?? [];
  if (latest.some(({ text }) => text?.startsWith(sign))) {
    return well(CHECK, `${NO_VIEW}, and came to this collector; ${counted}`);
  }
  const since = latest.filter(({ atMs }) => atMs >= sentMs);
  // The latest are not all, and a body that was too large is not shown.
  const mayHaveCome =
    since.length === LATEST_MAX || since.some(({ code }) => code === 'view-too-large');
  if (snapshot === undefined || mayHaveCome) return well(CHECK, `${NO_VIEW}; ${counted}`);
  const what = `${url} leads to another viewlog than this one: ${NO_VIEW.toLowerCase()}, and did not come here`;
  const why = "views of its pages are not in this one's files";
  const todo =
    "Have the proxy pass on to this collector's address, or give this the --host, --port, --data " +
    'and --status of the one that it leads to';
  return doubtful(CHECK, what, why, todo);
}
