import { expect, it } from 'vitest';
import { portOf, urlOf } from '../../src/http/listener.ts';

it.each(['127.0.0.1', '::1', 'localhost'])('portOf finds port 80 in the URL of %s', (host) => {
  expect(portOf(urlOf({ host, port: 80 }))).toBe(80);
});
