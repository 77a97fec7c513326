import { expect, it } from 'vitest';
import { doctor, installation, namesIn, of } from '../support/doctor.ts';
import { BUN, DENO, isPresent, DENO_2_5 } from '../support/runtimes.ts';
import { startWatched } from '../support/status.ts';

it.each([DENO, DENO_2_5, BUN].filter(isPresent))(
  "on $name the doctor names the facts that it can't read, and continues",
  async (runtime) => {
    const data = installation();
    const viewlog = await startWatched({ data });
    const args = [...of(viewlog), '--url', viewlog.url];
    const { code, line, out } = await doctor(data, args, {
      runtime: { ...runtime, command: () => runtime.command(data) },
    });
    expect([code, out]).toStrictEqual([0, expect.not.stringMatching(/^error|    at /m)]);
    // A busy disk is slow.
    expect(line('write and sync')).toMatch(/^(ok|warning) /);
    for (const check of ['clock', 'collector', 'health', 'url', 'cors', 'size']) {
      expect(line(check)).toMatch(/^ok /);
    }
    if (runtime !== BUN) expect(line('free space')).toContain('Free disk space is unknown');
    expect(namesIn(data).filter((name) => name.startsWith('.'))).toStrictEqual([]);
  },
);
