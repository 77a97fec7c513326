import { readFileSync } from 'node:fs';
import type { Authenticator } from '@nats-io/transport-node';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import type { Client } from './load.ts';

/**
 * Logs in with a credentials file. The file is read for each connection, because credentials
 * expire and are replaced; if it is missing or faulty by then, the last good ones are used.
 * @throws {Fatal} exit 78 if the file cannot be used now.
 */
export function credentials(path: string, client: Client): Authenticator {
  let last: Authenticator | undefined;
  const authenticator: Authenticator = (nonce) => {
    try {
      const fresh = client.credsAuthenticator(readFileSync(path));
      const auth = fresh(nonce);
      last = fresh;
      return auth;
    } catch (error) {
      if (last === undefined) throw error;
      return last(nonce);
    }
  };
  try {
    authenticator('nonce');
  } catch (error) {
    // The client's own error would quote a piece of the secret.
    const isOfSystem = /^E[A-Z]+$/.test(errnoOf(error) ?? '');
    const why = isOfSystem ? reasonOf(error) : 'it holds no JWT and seed';
    throw new Fatal(EXIT.badConfiguration, `Cannot use NATS credentials file "${path}": ${why}`);
  }
  return authenticator;
}
