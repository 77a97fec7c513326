import { describe, expect, test } from 'vitest';
import { originFault, originKey, originTest } from '../../src/projects/origins.ts';

describe.each([
  [
    'https://www.example.com',
    ['https://www.example.com', 'https://www.example.com:443', 'HTTPS://WWW.Example.COM'],
    ['http://www.example.com', 'https://www.example.com:444', 'https://example.com'],
  ],
  [
    'https://example.com',
    ['https://example.com'],
    [
      'https://www.example.com',
      'https://example.com.evil.example',
      'https://example.co',
      'https://example.comm',
      'https://example.com/',
      'https://user@example.com',
      ' https://example.com',
      'https:example.com',
      'https:\\\\example.com',
      'https://exa\tmple.com',
      'example.com',
      'null',
      '',
      'https://',
      'https://example.com:99999',
    ],
  ],
  ['HTTPS://WWW.Example.COM:443', ['https://www.example.com'], []],
  ['http://www.example.com:80', ['http://www.example.com'], []],
  ['http://www.example.com:8080', ['http://www.example.com:8080'], ['http://www.example.com']],
  ['https://münchen.example', ['https://xn--mnchen-3ya.example'], []],
  ['https://xn--mnchen-3ya.example', ['https://MÜNCHEN.example'], []],
  ['http://[::1]:3000', ['http://[0:0::1]:3000'], []],
  ['http://127.0.0.1:3000', ['http://127.0.0.1:3000'], []],
  ['http://localhost', ['http://localhost'], []],
  [
    'https://*.example.org',
    [
      'https://a.example.org',
      'https://a.b-c.d_e.0.example.org',
      'https://xn--mnchen-3ya.example.org',
      'https://München.example.org',
      'HTTPS://A.EXAMPLE.ORG:443',
    ],
    [
      'https://example.org',
      'https://.example.org',
      'https://a..example.org',
      'https://..example.org',
      'https://.a.example.org',
      'https://a..b.example.org',
      'https://evilexample.org',
      'https://a.example.org.evil.com',
      'https://evil.com/.example.org',
      'https://evil.com/a.example.org',
      'https://evil.com:443.example.org',
      'https://evil.com#.example.org',
      'https://evil.com?.example.org',
      'https://evil.com\\.example.org',
      'https://user@a.example.org',
      'https://*.example.org',
      'http://a.example.org',
      'https://a.example.org:8443',
      'https://a\n.example.org',
    ],
  ],
  ['HTTPS://*.Example.ORG:443', ['https://a.example.org'], []],
  [
    'http://*.example.org:8080',
    ['http://a.example.org:8080'],
    ['http://a.example.org', 'http://a.example.org:80800'],
  ],
  ['https://*.münchen.example', ['https://a.xn--mnchen-3ya.example'], []],
  ['http://*.localhost', ['http://shop.localhost'], []],
])('%s', (listed, allowed, others) => {
  test('allows its origins, and no others', () => {
    expect(originFault(listed)).toBeUndefined();
    const isAllowed = originTest([listed]);
    expect(allowed.filter((origin) => !isAllowed(origin))).toEqual([]);
    expect(others.filter((origin) => isAllowed(origin))).toEqual([]);
  });
});

test('any origin of a list is allowed, and none beside it', () => {
  const isAllowed = originTest(['https://a.com', 'https://*.b.com', 'https://*.c.com:8443']);
  const origins = ['https://a.com', 'https://x.b.com', 'https://x.c.com:8443', 'https://x.a.com'];
  expect(origins.map(isAllowed)).toEqual([true, true, true, false]);
});

test.each([
  ['must not be "null"', ['null']],
  ['must be one origin', ['*']],
  [
    'must start with https:// or http://',
    ['', 'www.x.com', '//x.com', 'https:/x.com', 'ftp://x.com', '*.x.com'],
  ],
  [
    'must end after its host and port, as in "https://x.com"',
    ['https://x.com/', 'https://x.com/a/b', 'https://x.com?a', 'https://x.com#a'],
  ],
  ['must end after its host and port, as in "https://*.x.com:8443"', ['https://*.x.com:8443/']],
  ['must not name a user', ['https://me@x.com', 'https://me:pw@x.com/']],
  [
    'may have "*" only as its whole first label',
    [
      'https://*',
      'https://*/',
      'https://a.*.com',
      'https://*a.com',
      'https://a*.com',
      'https://*.*.com',
      'https://*.',
      'https://*..com',
      'https://*.:443',
      'https://*.1.2.3.4',
      'http://localhost:*',
    ],
  ],
  [
    'must be a scheme, a host and',
    [
      'https://%2A.x.com',
      'https://',
      'https:///',
      'https://x.com:65536',
      'https://x.com:http',
      'https://1.2.3.256',
      'https://a b.com',
      'https://x.com ',
    ],
  ],
])('an origin %s', (fault, origins) => {
  const faults = origins.map((origin) => originFault(origin));
  expect(faults).toEqual(origins.map(() => expect.stringContaining(fault)));
});

test('two spellings of one origin have one key', () => {
  expect(originKey('HTTPS://A.com:443')).toBe(originKey('https://a.com'));
  expect(originKey('https://*.A.com')).toBe(originKey('https://*.a.com:443'));
  expect(originKey('https://*.a.com')).not.toBe(originKey('https://a.com'));
});
