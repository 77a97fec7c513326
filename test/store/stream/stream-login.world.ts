import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credsAuthenticator, nkeys } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import {
  canRunNats,
  credentialsText,
  type NatsOptions,
  startNats,
} from '../../support/nats-server.ts';
import { BUN, DENO, isHere, isPresent, NODE } from '../../support/runtimes.ts';
import { startWatched } from '../../support/status.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { dataDirectory, run } from '../../support/viewlog.ts';
import { MINIMAL_VIEW } from '../../support/views.ts';

// Permission to write to a stream: by password, by a credentials file, over TLS. No secret is ever
// printed.

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);
const PASSWORD = 's3cret-p@ss';
const USERS: NatsOptions = {
  config: `authorization { users: [ { user: viewlog, password: "${PASSWORD}" } ] }`,
  login: { user: 'viewlog', pass: PASSWORD },
};

describe.skipIf(!canRunNats())('a stream with logins', () => {
  it('accepts a user and a password, and prints neither', async () => {
    const nats = await startNats(USERS);
    const address = nats.url.replace('//', `//viewlog:${encodeURIComponent(PASSWORD)}@`);
    const viewlog = await startWatched({ env: { VIEWLOG_STORE: address } });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    await nats.nodes[0]!.stop('SIGKILL');
    const said = [await (await viewlog.post(MINIMAL_VIEW)).text()];
    for (const path of ['/', '/readyz', '/metrics', '/status.json']) {
      said.push(await (await fetch(`${viewlog.statusUrl}${path}`)).text());
    }
    await viewlog.signal('SIGTERM');
    said.push(viewlog.stdout(), viewlog.stderr());
    expect(said.join('\n')).toContain(`127.0.0.1:${nats.nodes[0]!.port}`);
    expect(said.join('\n')).not.toMatch(/s3cret/);
  });

  it.each(RUNTIMES)('accepts a credentials file, on $name', async (runtime) => {
    const { options, creds } = keysAndTokens();
    const nats = await startNats(options);
    const data = dataDirectory();
    const file = join(data, 'viewlog.creds');
    writeFileSync(file, creds);
    const args = ['--store', nats.url, '--nats-creds', file];
    const viewlog = await startWatched({ runtime, data, args });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect(await nats.messages('VIEWS')).toHaveLength(1);
    const { code, stdout, stderr } = await viewlog.signal('SIGTERM');
    expect([code, stderr]).toStrictEqual([0, '']);
    expect(stdout).not.toContain('eyJ');
  });
});

const OPENSSL = '/usr/bin/openssl';

describe.skipIf(!canRunNats() || !isHere(OPENSSL))('a stream over TLS', () => {
  it('is used only if the certificate is trusted', async () => {
    const { certificate, options } = certified();
    const nats = await startNats(options);
    const { port } = nats.nodes[0]!;
    for (const scheme of ['tls', 'nats']) {
      const args = ['--store', `${scheme}://localhost:${port}`];
      const viewlog = await startWatched({ args, env: { NODE_EXTRA_CA_CERTS: certificate } });
      expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    }
    const serve = ['serve', '--port=0', '--status=off', '--store', `tls://localhost:${port}`];
    const distrusted = await run(serve);
    expect(distrusted.code).toBe(69);
    expect(distrusted.stderr).toMatch(/^error: Cannot reach .*self-signed certificate[^\n]*\n$/);
    expect(distrusted.stderr).toContain(
      '(name a private authority with NODE_EXTRA_CA_CERTS, on Deno DENO_CERT)',
    );
  });
});

function certified(): { certificate: string; options: NatsOptions } {
  const dir = tempDir();
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const made = ['-keyout', key, '-out', certificate, '-subj', '/CN=localhost', '-addext', names];
  execFileSync(OPENSSL, ['req', '-x509', '-days', '2', ...curve, ...made], { stdio: 'ignore' });
  return {
    certificate,
    options: {
      config: `tls { cert_file: "${certificate}", key_file: "${key}" }`,
      login: { tls: { caFile: certificate } },
    },
  };
}

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** A token as NATS has them, signed by `issuer`. */
function token(issuer: KeyPair, subject: KeyPair, name: string, nats: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    jti: name,
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name,
    nats: { ...nats, version: 2 },
  };
  const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
  const signature = Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url');
  return `${signed}.${signature}`;
}

/** An operator with one account, which has one user, and the account that servers need. */
function keysAndTokens(): { options: NatsOptions; creds: string } {
  const operator = nkeys.createOperator();
  const [account, system] = [nkeys.createAccount(), nkeys.createAccount()];
  const user = nkeys.createUser();
  const all = { subs: -1, data: -1, payload: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const limits = { ...all, ...storage, conn: -1, leaf: -1, imports: -1, exports: -1 };
  const systemToken = token(operator, system, 'system', { type: 'account', limits: all });
  const accountToken = token(operator, account, 'account', { type: 'account', limits });
  const userToken = token(account, user, 'user', { type: 'user', ...all, pub: {}, sub: {} });
  const creds = credentialsText(userToken, Buffer.from(user.getSeed()).toString());
  return {
    creds,
    options: {
      config: `
operator: "${token(operator, operator, 'operator', { type: 'operator' })}"
resolver: MEMORY
system_account: ${system.getPublicKey()}
resolver_preload: {
  ${account.getPublicKey()}: "${accountToken}"
  ${system.getPublicKey()}: "${systemToken}"
}`,
      login: { authenticator: credsAuthenticator(Buffer.from(creds)) },
    },
  };
}
