import { askHolder } from '../disk/lock.ts';
import { ask, isRefused, isViewlogs, OPTIONS, told } from './ask.ts';
import { doubtful, type Finding, toBeMended, well } from './finding.ts';

const CHECK = 'collector';

/** Of a page that there is not: no name under `.invalid` is anybody's. */
export const NO_ORIGIN = 'https://viewlog-doctor.invalid';

/** No such address, or a port that fetch asks at no host. */
const UNREACHABLE = /ADDRNOTAVAIL|assign requested|NOTFOUND|lookup|UNREACH|bad port/i;

/**
 * Whether viewlog answers at the collector's own address, and is the one that writes to the directory.
 * @param data undefined where there is none.
 */
export async function checkCollector(
  address: string,
  data: string | undefined,
): Promise<{ readonly finding: Finding; readonly isRunning: boolean }> {
  const pid = data === undefined ? undefined : await holderOf(data);
  const reply = await ask(`${address}/view`, OPTIONS);
  const isRunning = isViewlogs(reply);
  if (isRunning) return { finding: running(address, pid), isRunning };
  if ('failure' in reply && isRefused(reply.failure)) {
    return { finding: notRunning(address, pid), isRunning };
  }
  if ('failure' in reply && UNREACHABLE.test(reply.failure)) {
    const what = `${address} cannot be asked: ${reply.failure}`;
    const todo = 'Give this an address of this machine, as the collector has it: --host, --port';
    return { finding: doubtful(CHECK, what, 'a collector may run or not', todo), isRunning };
  }
  const what = `Somebody else answers at ${address}: ${told(reply)}`;
  const todo = 'Find it with ss -ltnp and stop it, or choose another --port';
  return { finding: toBeMended(CHECK, what, 'viewlog cannot listen there', todo), isRunning };
}

function running(address: string, pid: string | undefined): Finding {
  const what = `viewlog answers at ${address}`;
  if (pid !== NOBODY) return well(CHECK, pid === undefined ? what : `${what}, process ${pid}`);
  const todo = "Give this the collector's own --data, which its status page tells";
  return doubtful(CHECK, `${what}, but writes elsewhere`, 'this looks at other files', todo);
}

function notRunning(address: string, pid = NOBODY): Finding {
  const what = `No collector runs at ${address}`;
  if (pid === NOBODY) return doubtful(CHECK, what, 'no view is taken', 'systemctl start viewlog');
  const todo = "Give this the collector's own --host and --port, which its first line tells";
  return doubtful(
    CHECK,
    `${what}, but process ${pid} holds the data directory`,
    'it listens elsewhere',
    todo,
  );
}

const NOBODY = '';

/** The pid of the process that holds the directory's lock, or NOBODY; undefined where nothing tells. */
async function holderOf(data: string): Promise<string | undefined> {
  try {
    const holder = await askHolder(data);
    if (holder === undefined) return NOBODY;
    return holder === 'unresponsive' ? undefined : String(holder.pid);
  } catch {
    return undefined;
  }
}
