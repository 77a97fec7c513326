import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credsAuthenticator, nkeys } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { credentials } from '../../src/jetstream/credentials.ts';
import { credentialsText } from '../support/nats-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const JWT = 'eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.e30.AAAA';

const fileOf = (seed: string): string => credentialsText(JWT, seed);
const newSeed = (): string => Buffer.from(nkeys.createUser().getSeed()).toString();

it("a login signs the server's nonce with the current file, as the NATS client does", () => {
  const path = join(tempDir(), 'viewlog.creds');
  let text = fileOf(newSeed());
  writeFileSync(path, text);
  const login = credentials(path);
  const expected = () => {
    const theirs = credsAuthenticator(Buffer.from(text.replaceAll('\r', '')))('nonce') as {
      jwt: string;
      sig: string;
    };
    return { jwt: theirs.jwt, sig: Buffer.from(theirs.sig, 'base64').toString('base64url') };
  };
  expect(login('nonce')).toStrictEqual(expected());
  text = fileOf(newSeed()).replaceAll('\n', '\r\n');
  writeFileSync(path, text);
  expect(login('nonce')).toStrictEqual(expected());
  // Signs with the last good credentials while the file is missing or faulty.
  writeFileSync(path, 'half a fi');
  expect(login('nonce')).toStrictEqual(expected());
  rmSync(path);
  expect(login('nonce')).toStrictEqual(expected());
});

const NO_LOGIN = "it doesn't contain a JWT and a seed";
it.each([
  ['that is empty', '', NO_LOGIN],
  ['with neither JWT nor seed', 's3cret', NO_LOGIN],
  ['with a cut-off seed', fileOf(newSeed().slice(0, -1)), NO_LOGIN],
  ['without a JWT', fileOf(newSeed()).replace(JWT, 's3cret'), NO_LOGIN],
  ["that doesn't exist", undefined, "it doesn't exist; name an existing file with --nats-creds"],
])('the error for a credentials file %s reveals none of it', (_, text, why) => {
  const path = join(tempDir(), 'viewlog.creds');
  if (text !== undefined) writeFileSync(path, text);
  const message = `Can't use NATS credentials file "${path}": ${why}`;
  expect(() => credentials(path)).toThrow(expect.objectContaining({ exitCode: 78 }));
  expect(() => credentials(path)).toThrow(message);
});
