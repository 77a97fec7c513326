import type { Address } from '../http/listener.ts';
import { listenForStatus } from '../http/status-adapter.ts';
import { operatorApp, type WatchedService } from './operator-app.ts';
import { unreadable } from './replies.ts';

/** The operator's listener. */
export interface StatusListener {
  readonly url: string;
  stop(): Promise<void>;
}

/** By then only answers of a moment are under way. */
const STOP_TIMEOUT_MS = 100;

/**
 * Opens the operator's listener, of whichever service.
 * @returns `undefined` where the operator wants none.
 * @throws {Fatal} exit 69 where the address cannot be listened on.
 */
export async function openStatus(
  address: Address | 'off',
  token: string | undefined,
  service: WatchedService,
): Promise<StatusListener | undefined> {
  if (address === 'off') return undefined;
  const { host, port } = address;
  const handler = operatorApp(service, { host, token });
  const listener = await listenForStatus({ host, port, handler, unreadable });
  return {
    url: listener.url,
    async stop() {
      service.close();
      await listener.stop(STOP_TIMEOUT_MS);
    },
  };
}
