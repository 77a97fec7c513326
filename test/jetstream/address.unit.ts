import { describe, expect, it } from 'vitest';
import { parseClusterAddress } from '../../src/jetstream/address.ts';

describe("a cluster's address", () => {
  it.each([
    ['nats://a', ['a:4222']],
    ['nats://a:1,b,c.example:65535', ['a:1', 'b:4222', 'c.example:65535']],
    ['nats://127.0.0.1:4222,nats://127.0.0.2:4222/', ['127.0.0.1:4222', '127.0.0.2:4222']],
    ['nats://[::1]:4222,[fe80::1]', ['[::1]:4222', '[fe80::1]:4222']],
  ])('names the servers, for example %s', (text, servers) => {
    const login = undefined;
    expect(parseClusterAddress(text)).toStrictEqual({ servers, isTls: false, login });
  });

  it('may ask for TLS', () => {
    expect(parseClusterAddress('tls://a')).toMatchObject({ isTls: true });
  });

  it.each([
    ['nats://u:p@a,b', { user: 'u', pass: 'p' }],
    ['nats://u:p@a,u:p@b', { user: 'u', pass: 'p' }],
    ['nats://u%40x:p%2Cq:r@a', { user: 'u@x', pass: 'p,q:r' }],
    ['nats://u:p@q@a', { user: 'u', pass: 'p@q' }],
    ['nats://s3cret@a', { token: 's3cret' }],
  ])('contains a login, for example %s', (text, login) => {
    expect(parseClusterAddress(text)).toMatchObject({ login });
  });

  it.each([
    '',
    'a:4222',
    'http://a',
    'nats://',
    'nats://a,',
    'nats://a:65536',
    'nats://a:b',
    'nats://a b',
    'nats://a/path',
    'nats://:p@a',
    'nats://%zz@a',
    'nats://u:p@a,v:p@b',
    'nats://a,tls://b',
  ])("can't be %j", (text) => {
    expect(parseClusterAddress(text)).toBeUndefined();
  });
});
