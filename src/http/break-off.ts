import type { ServerResponse } from 'node:http';

/**
 * What breaks off the answer to a request, on Node: its adapter would log the stack of an error
 * that a body's stream ends with. `undefined` on Deno and Bun, which then close the connection.
 * @param env what came with the request.
 */
export function breakOff(env: object | undefined): (() => void) | undefined {
  const { outgoing } = (env ?? {}) as { readonly outgoing?: ServerResponse };
  return outgoing && (() => void outgoing.destroy());
}
