import { type ReadEnv, readEnv } from '../base/env.ts';
import { EXIT, Fatal, errnoOf, errorText } from '../base/exit.ts';
import { findListener } from '../installation/commands.ts';
import type { Bun } from './bun.ts';
import type { Deno } from './deno.ts';
import { type Address, hostAndPort, type Listener, type ListenOptions } from './listener.ts';

export const runtime = globalThis as { readonly Deno?: Deno; readonly Bun?: Bun };

/**
 * Listens with the runtime's own server; on Node, also on a socket that a service manager passed.
 * Evaluates the file of this runtime only.
 * @throws {Fatal} exit 69 if it can't listen on the address, 78 if the passed socket is unusable.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { Deno, Bun } = runtime;
  const fd = passedSocket(readEnv, process.pid, !Deno && !Bun);
  try {
    if (Deno) return (await import('./deno.ts')).listenOnDeno(Deno, options);
    if (Bun) return (await import('./bun.ts')).listenOnBun(Bun, options);
    return await (await import('./node.ts')).listenOnNode(options, fd);
  } catch (error) {
    if (fd !== undefined) throw unusable(`${errorText(error)}; pass a listening TCP socket`);
    throw cannotListen(error, options, '--host and --port');
  }
}

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine has no such address; choose another address',
  ENOTFOUND: "this host name can't be resolved; choose another address",
  EACCES: 'permission denied; choose a port above 1023, or put a proxy in front',
};

/** @param flags the options that choose the address. */
export function cannotListen(error: unknown, address: Address, flags: string): Fatal {
  // Bun names an address in use only in its message.
  const inUse = errnoOf(error) === 'EADDRINUSE' || /in use/i.test(errorText(error));
  const why = inUse
    ? `another program is using this address; choose another address, or stop that program. To find it: ${findListener(address.port)}`
    : (LISTEN_FAULTS[errnoOf(error) ?? ''] ?? `${errorText(error)}; choose another address`);
  return new Fatal(EXIT.unavailable, `Can't listen on ${hostAndPort(address)} (${flags}): ${why}`);
}

/** The first descriptor that a service manager passes, by systemd's convention. */
const FIRST_FD = 3;

/**
 * Returns the descriptor of the listening socket that a service manager passed to this process
 * (`LISTEN_FDS`, `LISTEN_PID`); `undefined` if there is none or it is for another process.
 * @param canUse whether this runtime can listen on a descriptor.
 * @throws {Fatal} exit 78 if it isn't exactly one socket or if the runtime can't use it.
 */
export function passedSocket(env: ReadEnv, pid: number, canUse: boolean): number | undefined {
  const count = env('LISTEN_FDS');
  if (count === undefined || Number(env('LISTEN_PID')) !== pid) return undefined;
  if (!canUse)
    throw unusable("this runtime doesn't support it; run viewlog on Node or without the socket");
  if (count !== '1') throw unusable(`LISTEN_FDS is ${count}; pass exactly one socket`);
  return FIRST_FD;
}

/** @param why the cause and the fix. */
const unusable = (why: string): Fatal =>
  new Fatal(EXIT.badConfiguration, `Can't listen on the service manager's socket: ${why}`);
