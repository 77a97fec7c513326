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
import { dataDirectory, run, until } from '../../support/viewlog.ts';
import { MINIMAL_VIEW } from '../../support/views.ts';

// Tests logins to a stream: by password, by a credentials file, over TLS. viewlog must never print
// a secret.

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);
const PASSWORD = 's3cret-p@ss';
const USERS: NatsOptions = {
  config: `authorization { users: [ { user: viewlog, password: "${PASSWORD}" } ] }`,
  login: { user: 'viewlog', pass: PASSWORD },
};

describe.skipIf(!canRunNats())('a collector whose stream needs a login', () => {
  it('logs in with a user and a password and prints neither', async () => {
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

  it('logs once that it is connected again, however often the server has refused the login', async () => {
    const users = join(tempDir(), 'users.conf');
    const allow = (password: string): void =>
      writeFileSync(users, `users: [ { user: viewlog, password: ${password} } ]`);
    allow('s3cret');
    // Without a name, the server wouldn't reload its configuration. The path is relative to
    // the configuration's directory.
    const config = `server_name: n0
authorization { include "${'../'.repeat(20)}${users}" }`;
    const nats = await startNats({ config });
    const [node] = nats.nodes;
    const viewlog = await startWatched({
      args: ['--store', nats.url.replace('//', '//viewlog:s3cret@')],
    });
    allow('another');
    node!.signal('SIGHUP');
    await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${node!.monitorPort}/connz?state=closed`);
      const { connections } = (await answer.json()) as { connections: { reason: string }[] };
      return connections.filter(({ reason }) => reason === 'Authentication Failure').length > 3;
    });
    allow('s3cret');
    node!.signal('SIGHUP');
    await until(async () => (await viewlog.post(MINIMAL_VIEW)).status === 201);
    await viewlog.signal('SIGTERM');
    const said = viewlog.stdout() + viewlog.stderr();
    expect(said.match(/Connected to NATS server/g)).toHaveLength(1);
    expect(said.match(/Lost the connection.*; refusing views and reconnecting/g)).toHaveLength(1);
  });

  it.each(RUNTIMES)('logs in with a credentials file, on %s', async (runtime) => {
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

describe.skipIf(!canRunNats() || !isHere(OPENSSL))('a collector with a stream over TLS', () => {
  it.each(RUNTIMES)('accepts only a certificate of that host, on %s', async (runtime) => {
    const rows: [string, string, string | undefined][] = [
      ['tls', 'DNS:localhost', 'localhost'],
      ['nats', 'DNS:localhost', 'localhost'],
      ['tls', 'IP:127.0.0.1', '127.0.0.1'],
      ['nats', 'IP:127.0.0.1', '127.0.0.1'],
    ];
    for (const [scheme, name, host] of rows) {
      const { certificate, options } = certified(name);
      const nats = await startNats(options);
      const { port } = nats.nodes[0]!;
      const env = { NODE_EXTRA_CA_CERTS: certificate, DENO_CERT: certificate };
      const args = ['--store', `${scheme}://${host}:${port}`];
      const viewlog = await startWatched({ runtime, args, env });
      expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
      const other = host === 'localhost' ? '127.0.0.1' : 'localhost';
      const wrong = [
        'serve',
        '--port=0',
        '--status=off',
        '--store',
        `${scheme}://${other}:${port}`,
      ];
      const { code, stderr } = await run(wrong, { runtime, env });
      expect([code, stderr]).toStrictEqual([
        69,
        expect.stringMatching(/^error: Can't reach .*\n$/),
      ]);
    }
  });

  it('accepts only a certificate that it trusts', async () => {
    const nats = await startNats(certified('DNS:localhost').options);
    const store = `tls://localhost:${nats.nodes[0]!.port}`;
    const distrusted = await run(['serve', '--port=0', '--status=off', '--store', store]);
    expect(distrusted.code).toBe(69);
    expect(distrusted.stderr).toMatch(/^error: Can't reach .*certificate[^\n]*\n$/);
    expect(distrusted.stderr).toContain(
      '(for a private certificate authority, set NODE_EXTRA_CA_CERTS, or DENO_CERT on Deno)',
    );
  });
});

/**
 * Returns the certificate of an authority, and the options of a server whose certificate it has
 * signed.
 * @param name the only name in the server's certificate; its subject names no server.
 */
function certified(name: string): { certificate: string; options: NatsOptions } {
  const dir = tempDir();
  const make = (file: string, ...more: string[]): string => {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const out = ['-keyout', join(dir, `${file}.key`), '-out', join(dir, `${file}.pem`)];
    const args = ['req', '-x509', '-days', '2', ...curve, ...out, '-subj', `/CN=${file}`, ...more];
    execFileSync(OPENSSL, args, { stdio: 'ignore' });
    return join(dir, `${file}.pem`);
  };
  const certificate = make('authority');
  const signed = ['-CA', certificate, '-CAkey', join(dir, 'authority.key')];
  const names = ['-addext', 'basicConstraints=CA:FALSE', '-addext', `subjectAltName=${name}`];
  const own = make('server', ...signed, ...names);
  return {
    certificate,
    options: {
      config: `tls { cert_file: "${own}", key_file: "${join(dir, 'server.key')}" }`,
      login: { tls: { caFile: certificate, rejectUnauthorized: false } },
    },
  };
}

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** Returns a token in the format of NATS, signed by `issuer`. */
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

/** Creates an operator with one account, which has one user, and the account that servers need. */
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
