import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Authenticator } from '@nats-io/transport-node';
import { EXIT, errnoOf, Fatal, errorText } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { accessFix, fixText } from '../installation/commands.ts';
import { absolute } from '../installation/installation.ts';

const JWT = /^eyJ[\w-]+\.[\w-]+\.[\w-]+(?=\s*$)/m;
/** A user's Ed25519 seed in base 32: a prefix of 2 bytes, the seed's 32, and a checksum. */
const SEED = /^SU[A-Z2-7]{56}(?=\s*$)/m;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** The head of a PKCS #8 key; 32 bytes of Ed25519 seed follow. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Logs in with a credentials file. The file is read for each connection, because credentials expire
 * and are replaced; if it is missing or invalid by then, the last valid credentials are used.
 * @throws {Fatal} exit 78 if the file can't be used now.
 */
export function credentials(path: string): Authenticator {
  let last = '';
  const login = (nonce = '') => {
    try {
      const text = readFileSync(path, 'utf8');
      const fresh = loginOf(text, nonce);
      last = text;
      return fresh;
    } catch (error) {
      if (last === '') throw error;
      return loginOf(last, nonce);
    }
  };
  try {
    login();
  } catch (error) {
    // Only a system error is quoted, because any other could contain a piece of the secret.
    const code = errnoOf(error) ?? '';
    const isOfSystem = /^E[A-Z]+$/.test(code);
    const why = isOfSystem ? errorText(error) : "it doesn't contain a JWT and a seed";
    const known: Readonly<Record<string, string>> = {
      ENOENT: "it doesn't exist; name an existing file with --nats-creds",
      EACCES: `${why}; ${fixText(accessFix(absolute(path), 'r'))}`,
    };
    const what = `Can't use NATS credentials file "${printable(path, Infinity)}"`;
    throw new Fatal(EXIT.badConfiguration, `${what}: ${known[code] ?? why}`);
  }
  return login;
}

/** Signs with the runtime's cryptography, because the client's own would add 60 KiB. */
function loginOf(text: string, nonce: string) {
  const [jwt] = JWT.exec(text) ?? [];
  const [seed] = SEED.exec(text) ?? [];
  if (jwt === undefined || seed === undefined) throw new Error('no credentials');
  const bits = Array.from(seed, (digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0'));
  const bytes = bits
    .join('')
    .match(/.{8}/g)!
    .map((byte) => Number.parseInt(byte, 2));
  const der = Buffer.concat([PKCS8_HEAD, Buffer.from(bytes).subarray(2, 34)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { jwt, sig: sign(undefined, Buffer.from(nonce), key).toString('base64url') };
}
