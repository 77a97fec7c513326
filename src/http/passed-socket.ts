import type { ReadEnv } from '../base/env.ts';
import { EXIT, Fatal } from '../base/exit.ts';

/** The first descriptor that a service manager passes, by systemd's convention. */
const FIRST_FD = 3;

/**
 * Returns the descriptor of the listening socket that a service manager passed to this process
 * (`LISTEN_FDS`, `LISTEN_PID`), or `undefined` if there is none or another process is meant.
 * @param canUse whether this runtime can listen on a descriptor.
 * @throws {Fatal} exit 78 if it is not exactly one socket, or if the runtime cannot use it.
 */
export function passedSocket(env: ReadEnv, pid: number, canUse: boolean): number | undefined {
  const count = env('LISTEN_FDS');
  if (count === undefined || Number(env('LISTEN_PID')) !== pid) return undefined;
  if (!canUse) throw unusable('this runtime cannot. Run viewlog on Node, or without the socket');
  if (count !== '1') throw unusable(`LISTEN_FDS is ${count}. Pass exactly one socket`);
  return FIRST_FD;
}

/** Removes the variables, as the convention demands: a child must not mistake them for its own. */
export function forgetPassedSocket(): void {
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete process.env[name];
}

/** @param why the cause and the fix. */
export const unusable = (why: string): Fatal =>
  new Fatal(EXIT.badConfiguration, `Cannot listen on the socket of the service manager: ${why}`);
