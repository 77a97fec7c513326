import { readFile } from 'node:fs/promises';
import { readEnv } from '../base/env.ts';
import { EXIT, errnoOf, Fatal, errorText } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { accessFix, createToken, fixText } from '../installation/commands.ts';
import { absolute, type Chosen, givenAs } from '../installation/installation.ts';
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
 * @param chosen the options as they were given, for errors.
 * @throws {Fatal} exit 78 if the server needs a token and has none, or a weak one.
 */
export async function readToken(
  { status, 'status-token-file': file }: TokenOptions,
  chosen: Chosen = {},
  env = readEnv,
): Promise<string | undefined> {
  if (status === 'off') return undefined;
  // An empty variable counts as unset; an empty file is a mistake.
  const text =
    file === undefined
      ? env(TOKEN_ENV) || undefined
      : await readTokenFile(file, givenAs('status-token-file', chosen));
  const token = text?.trim();
  const source = file === undefined ? TOKEN_ENV : `"${printable(file, Infinity)}"`;
  if (token === undefined) {
    if (isLoopback(status.host)) return undefined;
    const why = `${givenAs('status', chosen)} ${printable(status.host)} isn't a loopback address, so it needs a token`;
    throw misconfigured(`${why}; pass --status-token-file FILE or set ${TOKEN_ENV}`);
  }
  if (/^[\x21-\x7e]{16,}$/.test(token)) return token;
  const rule =
    'at least 16 printable ASCII characters, without spaces; to generate one, run: openssl rand -hex 16';
  throw misconfigured(`The status token in ${source} must have ${rule}`);
}

const misconfigured = (message: string): Fatal => new Fatal(EXIT.badConfiguration, message);

async function readTokenFile(file: string, source: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = errnoOf(error);
    const path = absolute(file);
    const fixes: Readonly<Record<string, () => string | Promise<string>>> = {
      ENOENT: async () =>
        `to create it, ${fixText({ words: '', command: await createToken(path) })}`,
      EACCES: () => fixText(accessFix(path, 'r')),
      EISDIR: () => 'name the file that contains the token',
    };
    const fix = await fixes[code ?? '']?.();
    const reason = code === 'ENOENT' ? "it doesn't exist" : errorText(error);
    const what = `Can't read ${source} "${printable(file, Infinity)}": ${reason}`;
    throw misconfigured(fix === undefined ? what : `${what}; ${fix}`);
  }
}
