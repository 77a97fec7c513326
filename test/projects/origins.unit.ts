import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOrigin, originTest } from '../../src/projects/origins.ts';

// Each row has a listed origin, origins that it allows, and origins that it doesn't allow.
test.each<[listed: string, allowed: string, others?: string]>([
  [
    'https://example.com',
    'https://example.com https://example.com:443 HTTPS://Example.COM',
    'http://example.com https://example.com:444 https://www.example.com https://example.co ' +
      'https://example.com.evil.example https://example.comm https://example.com/ ' +
      'https://user@example.com https:example.com https:\\\\example.com https://exa\tmple.com ' +
      'example.com null https:// https://example.com:99999',
  ],
  ['HTTPS://WWW.Example.COM:443', 'https://www.example.com'],
  ['http://a.com:80', 'http://a.com'],
  ['http://a.com:8080', 'http://a.com:8080', 'http://a.com'],
  ['https://münchen.example', 'https://xn--mnchen-3ya.example https://MÜNCHEN.example'],
  ['https://xn--mnchen-3ya.example', 'https://MÜNCHEN.example'],
  ['http://[::1]:3000', 'http://[0:0::1]:3000'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
  [
    'https://*.example.org',
    'https://a.example.org https://a.b-c.d_e.0.example.org HTTPS://A.EXAMPLE.ORG:443 ' +
      'https://xn--mnchen-3ya.example.org https://München.example.org',
    'https://example.org https://.example.org https://a..example.org https://.a.example.org ' +
      'https://evilexample.org https://a.example.org.evil.com https://evil.com/.example.org ' +
      'https://evil.com/a.example.org https://evil.com:443.example.org ' +
      'https://evil.com#.example.org https://evil.com?.example.org ' +
      'https://evil.com\\.example.org https://user@a.example.org https://*.example.org ' +
      'http://a.example.org https://a.example.org:8443 https://a\t.example.org',
  ],
  ['HTTPS://*.Example.ORG:443', 'https://a.example.org'],
  ['http://*.a.org:8080', 'http://x.a.org:8080', 'http://x.a.org http://x.a.org:80800'],
  ['https://*.münchen.example', 'https://a.xn--mnchen-3ya.example'],
  ['http://*.localhost', 'http://shop.localhost'],
])('the item "%s" allows only its own origins', (listed, allowed, others = '') => {
  expect(isOrigin(listed)).toBe(true);
  const isAllowed = originTest(['https://first.example', 'https://*.first.example', listed]);
  expect(isAllowed('https://first.example')).toBe(true);
  expect(allowed.split(' ').filter((origin) => !isAllowed(origin))).toEqual([]);
  const rest = [...others.split(' '), ' https://example.com', 'https://a\n.example.org'];
  expect(rest.filter((origin) => isAllowed(origin))).toEqual([]);
});

const label = fc.constantFrom('a', 'b', 'c-d', 'org');
const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const listedOrigin = fc
  .tuple(fc.constantFrom('http://', 'https://'), fc.constantFrom('', '*.'), host)
  .map((parts) => parts.join(''));

test('a list allows exactly the origins that any of its items allows', () => {
  fc.assert(
    fc.property(fc.array(listedOrigin), listedOrigin, (list, text) => {
      const origin = text.replace('*.', '');
      const [scheme, name] = origin.split('://') as [string, string];
      const isListed = list.some(
        (one) =>
          one === origin ||
          (one.startsWith(`${scheme}://*`) && name.endsWith(one.slice(scheme.length + 4))),
      );
      expect(originTest(list)(origin)).toBe(isListed);
    }),
  );
});

test.each(
  [
    'https://x.com/ https://x.com/a/b https://x.com?a https://x.com#a https://*.x.com:8443/',
    ' * www.x.com //x.com https:/x.com ftp://x.com *.x.com null https://x\ty.com',
    'https://* https://*/ https://a.*.com https://*a.com https://a*.com https://*.*.com',
    'https://*. https://*..com https://*.:443 https://*.1.2.3.4 http://localhost:*',
    'https://%2A.x.com https:// https:/// https://x.com:65536 https://x.com:http',
    'https://1.2.3.256 https://me@x.com https://me:pw@x.com/ https://a.com,https https://a;b https://.x.com https://x..com',
  ].flatMap((row) => row.split(' ')),
)("%j isn't an origin", (text) => {
  expect(isOrigin(text)).toBe(false);
});

test('a project can list an international name even after so many checks that the runtime has optimised them', () => {
  for (let i = 0; i < 300_000; i++) isOrigin('https://a.example');
  expect(isOrigin('https://Blåbær.example')).toBe(true);
});
