import { listen } from '../http/listen.ts';
import type { Address } from '../http/listener.ts';
import { createStatusApp, unreadable } from './app.ts';
import type { StatusSource } from './source.ts';

/** The operator's listener. */
export interface StatusListener {
  readonly url: string;
  stop(): Promise<void>;
}

/** By then only answers of a moment are under way. */
const STOP_TIMEOUT_MS = 100;

/**
 * Opens the operator's listener.
 * @throws {Fatal} exit 69 where the address cannot be listened on.
 */
export async function openStatus(
  { host, port }: Address,
  token: string | undefined,
  source: StatusSource,
): Promise<StatusListener> {
  const app = createStatusApp(source, { host, token });
  const { handler } = app;
  const listener = await listen({ host, port, handler, unreadable, flag: '--status' });
  return {
    url: listener.url,
    async stop() {
      app.close();
      await listener.stop(STOP_TIMEOUT_MS);
    },
  };
}
