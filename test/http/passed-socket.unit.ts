import { expect, it } from 'vitest';
import { passedSocket } from '../../src/http/listen.ts';

const passed = (env: Readonly<Record<string, string>>, canUse = true): number | undefined =>
  passedSocket((name) => env[name], 7, canUse);

it('the passed socket is descriptor 3 if this process was passed exactly one socket', () => {
  expect(passed({ LISTEN_FDS: '1', LISTEN_PID: '7' })).toBe(3);
  expect(passed({})).toBeUndefined();
  expect(passed({ LISTEN_FDS: '1' })).toBeUndefined();
  expect(passed({ LISTEN_PID: '7' })).toBeUndefined();
  expect(passed({ LISTEN_FDS: '1', LISTEN_PID: '8' })).toBeUndefined();
});

it("viewlog refuses any number of passed sockets except one, and a socket that its runtime can't use", () => {
  for (const count of ['0', '2', ''])
    expect(() => passed({ LISTEN_FDS: count, LISTEN_PID: '7' })).toThrow('exactly one socket');
  expect(() => passed({ LISTEN_FDS: '1', LISTEN_PID: '7' }, false)).toThrow('run viewlog on Node');
  expect(passed({ LISTEN_FDS: '1', LISTEN_PID: '8' }, false)).toBeUndefined();
});
