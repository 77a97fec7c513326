import { readFile } from 'node:fs/promises';
import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { readEnv } from '../base/env.ts';
import { printable } from '../base/text.ts';
import { isLoopback } from './guard.ts';

export const TOKEN_ENV = 'VIEWLOG_STATUS_TOKEN';
const LENGTH_MIN = 16;

/** What the operator chose, of the listener. */
interface TokenOptions {
  readonly status: { readonly host: string } | 'off';
  readonly 'status-token-file': string | undefined;
}

/**
 * The token that the operator's listener asks for: from a file or from the environment, never a
 * flag, which every user of the machine could read.
 * @throws {Fatal} where the listener needs one and there is none, or it is no good.
 */
export async function readToken(
  { status, 'status-token-file': file }: TokenOptions,
  env = readEnv,
): Promise<string | undefined> {
  if (status === 'off') return undefined;
  const token = (file === undefined ? env(TOKEN_ENV) : await readTokenFile(file))?.trim();
  const source = file === undefined ? TOKEN_ENV : `"${printable(file, Infinity)}"`;
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new Fatal(EXIT.badConfiguration, `The status token in ${source} must be printable ASCII`);
  }
  if (token !== undefined && token.length < LENGTH_MIN) {
    const message = `The status token in ${source} must have at least ${LENGTH_MIN} characters`;
    throw new Fatal(EXIT.badConfiguration, message);
  }
  if (token === undefined && !isLoopback(status.host)) {
    throw new Fatal(
      EXIT.badConfiguration,
      `--status ${printable(status.host)} is not loopback, so it needs a token: ` +
        `--status-token-file FILE, or ${TOKEN_ENV}`,
    );
  }
  return token;
}

async function readTokenFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `Cannot read --status-token-file "${printable(file, Infinity)}": ${reasonOf(error)}`;
    throw new Fatal(EXIT.badConfiguration, message);
  }
}
