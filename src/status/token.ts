import { readFile } from 'node:fs/promises';
import { readEnv } from '../base/env.ts';
import { EXIT, errnoOf, Fatal, errorText } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { accessFix, fixText } from '../installation/commands.ts';
import { absolute } from '../installation/installation.ts';
import { isLoopback } from './guard.ts';

export const TOKEN_ENV = 'VIEWLOG_STATUS_TOKEN';

/** The operator's settings of the listener. */
interface TokenOptions {
  readonly status: { readonly host: string } | 'off';
  readonly 'status-token-file': string | undefined;
}

/**
 * Returns the token of the status server. It comes from a file or from the environment, never
 * from a flag, which every user of the machine could read.
 * @throws {Fatal} exit 78 if the server needs a token and has none, or a weak one.
 */
export async function readToken(
  { status, 'status-token-file': file }: TokenOptions,
  env = readEnv,
): Promise<string | undefined> {
  if (status === 'off') return undefined;
  // An empty variable counts as unset; an empty file is a mistake.
  const text = file === undefined ? env(TOKEN_ENV) || undefined : await readTokenFile(file);
  const token = text?.trim();
  const source = file === undefined ? TOKEN_ENV : `"${printable(file, Infinity)}"`;
  if (token === undefined) {
    if (isLoopback(status.host)) return undefined;
    const why = `--status ${printable(status.host)} isn't loopback, so it needs a token`;
    throw misconfigured(`${why}: --status-token-file FILE or ${TOKEN_ENV}`);
  }
  if (/^[\x21-\x7e]{16,}$/.test(token)) return token;
  const rule = 'at least 16 characters of printable ASCII, without spaces';
  throw misconfigured(`The status token in ${source} must have ${rule}`);
}

const misconfigured = (message: string): Fatal => new Fatal(EXIT.badConfiguration, message);

async function readTokenFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const path = printable(file, Infinity);
    const isDenied = errnoOf(error) === 'EACCES';
    const fix = isDenied
      ? fixText(accessFix(absolute(file), 'r'))
      : `correct the path, or set ${TOKEN_ENV} instead`;
    throw misconfigured(`Can't read --status-token-file "${path}": ${errorText(error)}; ${fix}`);
  }
}
