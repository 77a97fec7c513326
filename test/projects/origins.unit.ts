import { describe, expect, test } from 'vitest';
import { originFault, originKey, originTest } from '../../src/projects/origins.ts';

const allows = (listed: string, origin: string): boolean => originTest([listed])(origin);

describe('an exact origin', () => {
  test.each([
    ['https://www.example.com', 'https://www.example.com'],
    ['https://www.example.com:443', 'https://www.example.com'],
    ['https://www.example.com', 'https://www.example.com:443'],
    ['http://www.example.com:80', 'http://www.example.com'],
    ['http://www.example.com:8080', 'http://www.example.com:8080'],
    ['HTTPS://WWW.Example.COM', 'https://www.example.com'],
    ['https://www.example.com', 'HTTPS://WWW.Example.COM'],
    ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
    ['https://xn--mnchen-3ya.example', 'https://MÜNCHEN.example'],
    ['http://[::1]:3000', 'http://[0:0::1]:3000'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://localhost', 'http://localhost'],
  ])('%s allows %s', (listed, origin) => {
    expect(originFault(listed)).toBeUndefined();
    expect(allows(listed, origin)).toBe(true);
  });

  test.each([
    ['https://www.example.com', 'http://www.example.com'],
    ['https://www.example.com', 'https://www.example.com:444'],
    ['https://www.example.com', 'https://example.com'],
    ['https://example.com', 'https://www.example.com'],
    ['https://example.com', 'https://example.com.evil.example'],
    ['https://example.com', 'https://example.co'],
    ['https://example.com', 'https://example.comm'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com', 'https://user@example.com'],
    ['https://example.com', ' https://example.com'],
    ['https://example.com', 'https:example.com'],
    ['https://example.com', 'https:\\\\example.com'],
    ['https://example.com', 'https://exa\tmple.com'],
    ['https://example.com', 'example.com'],
    ['https://example.com', 'null'],
    ['https://example.com', ''],
    ['https://example.com', 'https://'],
    ['https://example.com', 'https://example.com:99999'],
  ])('%s does not allow %j', (listed, origin) => {
    expect(allows(listed, origin)).toBe(false);
  });
});

describe('a wildcard', () => {
  test.each([
    ['https://*.example.org', 'https://a.example.org'],
    ['https://*.example.org', 'https://a.b-c.d_e.0.example.org'],
    ['https://*.example.org', 'https://xn--mnchen-3ya.example.org'],
    ['https://*.example.org', 'https://München.example.org'],
    ['https://*.example.org', 'HTTPS://A.EXAMPLE.ORG:443'],
    ['https://*.example.org:443', 'https://a.example.org'],
    ['http://*.example.org:8080', 'http://a.example.org:8080'],
    ['https://*.münchen.example', 'https://a.xn--mnchen-3ya.example'],
    ['HTTPS://*.Example.ORG', 'https://a.example.org'],
    ['http://*.localhost', 'http://shop.localhost'],
  ])('%s allows %s', (listed, origin) => {
    expect(originFault(listed)).toBeUndefined();
    expect(allows(listed, origin)).toBe(true);
  });

  test.each([
    ['https://*.example.org', 'https://example.org'],
    ['https://*.example.org', 'https://.example.org'],
    ['https://*.example.org', 'https://a..example.org'],
    ['https://*.example.org', 'https://..example.org'],
    ['https://*.example.org', 'https://.a.example.org'],
    ['https://*.example.org', 'https://a..b.example.org'],
    ['https://*.example.org', 'https://evilexample.org'],
    ['https://*.example.org', 'https://a.example.org.evil.com'],
    ['https://*.example.org', 'https://evil.com/.example.org'],
    ['https://*.example.org', 'https://evil.com/a.example.org'],
    ['https://*.example.org', 'https://evil.com:443.example.org'],
    ['https://*.example.org', 'https://evil.com#.example.org'],
    ['https://*.example.org', 'https://evil.com?.example.org'],
    ['https://*.example.org', 'https://evil.com\\.example.org'],
    ['https://*.example.org', 'https://user@a.example.org'],
    ['https://*.example.org', 'https://*.example.org'],
    ['https://*.example.org', 'http://a.example.org'],
    ['https://*.example.org', 'https://a.example.org:8443'],
    ['http://*.example.org:8080', 'http://a.example.org'],
    ['http://*.example.org:8080', 'http://a.example.org:80800'],
  ])('%s does not allow %s', (listed, origin) => {
    expect(allows(listed, origin)).toBe(false);
  });
});

test('any origin of a list is allowed, and none beside it', () => {
  const isAllowed = originTest(['https://a.com', 'https://*.b.com', 'https://*.c.com:8443']);
  expect(isAllowed('https://a.com')).toBe(true);
  expect(isAllowed('https://x.b.com')).toBe(true);
  expect(isAllowed('https://x.c.com:8443')).toBe(true);
  expect(isAllowed('https://x.a.com')).toBe(false);
});

describe('what is no origin', () => {
  const USUAL =
    'must be a scheme, a host and, where it is not the usual one, a port, as in "https://www.example.com"';
  const WILDCARD = 'may have "*" only as its whole first label, as in "https://*.example.org"';
  const SCHEME = 'must start with https:// or http://, as in "https://www.example.com"';
  test.each([
    ['null', 'must not be "null", which sandboxed pages of any site send'],
    ['*', 'must be one origin (to accept every origin, leave "origins" out)'],
    ['', SCHEME],
    ['www.example.com', SCHEME],
    ['//www.example.com', SCHEME],
    ['https:/www.example.com', SCHEME],
    ['ftp://www.example.com', SCHEME],
    ['*.example.org', SCHEME],
    ['https://x.com/', 'must end after its host and port, as in "https://x.com"'],
    ['https://x.com:8443/a/b', 'must end after its host and port, as in "https://x.com:8443"'],
    ['https://x.com?a', 'must end after its host and port, as in "https://x.com"'],
    ['https://x.com#a', 'must end after its host and port, as in "https://x.com"'],
    ['https://*.x.com/', 'must end after its host and port, as in "https://*.x.com"'],
    ['https://me@x.com', 'must not name a user; expected one such as "https://www.example.com"'],
    [
      'https://me:pw@x.com/',
      'must not name a user; expected one such as "https://www.example.com"',
    ],
    ['https://*', WILDCARD],
    ['https://*/', WILDCARD],
    ['https://a.*.com', WILDCARD],
    ['https://*a.com', WILDCARD],
    ['https://a*.com', WILDCARD],
    ['https://*.*.com', WILDCARD],
    ['https://*.', WILDCARD],
    ['https://*..com', WILDCARD],
    ['https://*.:443', WILDCARD],
    ['https://*.1.2.3.4', WILDCARD],
    ['http://localhost:*', WILDCARD],
    ['https://%2A.x.com', USUAL],
    ['https://', USUAL],
    ['https:///', USUAL],
    ['https://x.com:65536', USUAL],
    ['https://x.com:http', USUAL],
    ['https://1.2.3.256', USUAL],
    ['https://a b.com', USUAL],
    ['https://x.com ', USUAL],
  ])('%j', (origin, fault) => {
    expect(originFault(origin)).toBe(fault);
  });
});

test('two spellings of one origin have one key', () => {
  expect(originKey('HTTPS://A.com:443')).toBe(originKey('https://a.com'));
  expect(originKey('https://*.A.com')).toBe(originKey('https://*.a.com:443'));
  expect(originKey('https://*.a.com')).not.toBe(originKey('https://a.com'));
});
