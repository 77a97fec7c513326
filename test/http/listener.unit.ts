import { expect, it } from 'vitest';
import { portOf, urlOf } from '../../src/http/listener.ts';

it.each(['127.0.0.1', '::1', 'localhost'])(
  'finds the port of an address of %s, also 80',
  (host) => {
    for (const port of [80, 8080]) expect(portOf(urlOf(host, port))).toBe(port);
    expect(portOf()).toBeUndefined();
  },
);
