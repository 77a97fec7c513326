import { EXIT, Fatal, errnoOf, reasonOf } from '../base/exit.ts';
import type { Bun } from './bun.ts';
import type { Deno } from './deno.ts';
import { type Listener, type ListenOptions, urlOf } from './listener.ts';

/**
 * Of the runtimes' files only the one that is needed is evaluated: Hono's server for Node has Node
 * load its Fetch API, which is a seventh of a start.
 * @throws {Fatal} exit 69 where the address cannot be listened on.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const runtime = globalThis as { Deno?: Deno; Bun?: Bun };
  try {
    if (runtime.Deno) return (await import('./deno.ts')).listenOnDeno(runtime.Deno, options);
    if (runtime.Bun) return (await import('./bun.ts')).listenOnBun(runtime.Bun, options);
    return await (await import('./node.ts')).listenOnNode(options);
  } catch (error) {
    throw cannotListen(error, options);
  }
}

function cannotListen(error: unknown, { host, port, flag }: ListenOptions): Fatal {
  const address = urlOf(host, port).slice('http://'.length);
  // Bun words an address in use in its message only.
  const inUse = errnoOf(error) === 'EADDRINUSE' || /in use/i.test(reasonOf(error));
  const why = inUse
    ? `it is in use. Stop what listens there, or choose another with ${flag}`
    : `${reasonOf(error)}. Choose another with ${flag}`;
  return new Fatal(EXIT.unavailable, `Cannot listen on ${address}: ${why}`);
}
