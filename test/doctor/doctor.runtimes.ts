import { expect, it } from 'vitest';
import { doctor, installation, namesIn, of } from '../support/doctor.ts';
import { BUN, DENO, DENO_2_5, isPresent, NODE_26 } from '../support/runtimes.ts';
import { startWatched } from '../support/status.ts';

/** The proxy variables of an operator's shell; nothing listens at this address. */
const PROXY = 'http://127.0.0.1:9';
const PROXIES = { HTTP_PROXY: PROXY, http_proxy: PROXY, NODE_USE_ENV_PROXY: '1' };

it.each([DENO, DENO_2_5, BUN, NODE_26].filter(isPresent))(
  "on %s, the doctor names the facts that it can't read and ignores the proxy of the shell",
  async (runtime) => {
    const data = installation();
    const viewlog = await startWatched({ data });
    const args = [...of(viewlog), '--url', viewlog.url];
    const { code, line, out } = await doctor(data, args, {
      runtime: { ...runtime, command: () => runtime.command(data) },
      env: PROXIES,
    });
    expect([code, out]).toStrictEqual([0, expect.not.stringMatching(/^error|    at /m)]);
    // A busy disk may be slow enough for a warning.
    expect(line('write and sync')).toMatch(/^(ok|warning) /);
    for (const check of ['clock', 'collector', 'health', 'url', 'cors', 'size']) {
      expect(line(check)).toMatch(/^ok /);
    }
    if (runtime === DENO || runtime === DENO_2_5)
      expect(line('free space')).toContain('Free disk space is unknown');
    expect(namesIn(data).filter((name) => name.startsWith('.'))).toStrictEqual([]);
  },
);
