import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { doctor, installation, isRoot, namesIn, of, SERVICE } from '../support/doctor.ts';
import { NGINX, nginx } from '../support/proxies.ts';
import { BUNDLE, isHere, NODE } from '../support/runtimes.ts';
import { startWatched } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';

// Tests `viewlog doctor` as other users, and with a real proxy.

describe.skipIf(!isRoot)('the doctor', () => {
  /** Runs the doctor as that user, who may not be able to read the checkout. */
  const doctorAs = (user: typeof SERVICE, data: string) => {
    const dir = tempDir();
    fs.chmodSync(dir, 0o755);
    const bundle = join(dir, 'viewlog.mjs');
    fs.copyFileSync(BUNDLE, bundle);
    return doctor(data, [], {
      user,
      runtime: { ...NODE, command: () => NODE.command(dir, bundle) },
    });
  };

  it('names users and only warns about access that another user lacks', async () => {
    const data = installation();
    fs.chmodSync(data, 0o755);
    const own = await doctorAs(SERVICE, data);
    const line = '0 ok user: #4711 owns the data directory, so viewlog should run as #4711.';
    expect(own.outcome('user')).toBe(line);
    expect(own.line('data directory')).toMatch(/^ok /);
    expect(namesIn(data)).toStrictEqual(['projects.json']);
    const other = { uid: 4713, gid: 4713 };
    for (const [mode, as] of [
      [0o755, /but #4711 owns the files\. .*Run the doctor as #4711: sudo setpriv --reuid=4711 /],
      [0o700, /isn't allowed to check .*Run the doctor as #4711: sudo setpriv --reuid=4711 /],
    ] as const) {
      fs.chmodSync(data, mode);
      const { outcome, lines } = await doctorAs(other, data);
      expect(outcome()).toMatch(/^0 warning access: The doctor runs as #4713, /);
      expect(outcome()).toMatch(as);
      const known = /^ok|^warning {2}(access|collector): |^\d warning/;
      expect(lines.filter((text) => !known.test(text))).toStrictEqual([]);
    }
    fs.chmodSync(join(data, '..'), 0o700);
    const shut = await doctorAs(SERVICE, data);
    expect(shut.outcome()).toMatch(
      /^0 warning access: The doctor runs as #4711, which isn't allowed .*Run the doctor as root: sudo .* --port \d+/,
    );
  });
});

const UNIT = '/usr/local/lib/systemd/system/viewlog.service';

it.runIf(isRoot && !fs.existsSync(UNIT))(
  "before the first start, the doctor prints the command that starts the data directory's unit, and the one that gives the directory to the unit's user",
  async () => {
    const created = fs.mkdirSync(dirname(UNIT), { recursive: true }) ?? UNIT;
    onTestFinished(() => fs.rmSync(created, { recursive: true }));
    const data = installation();
    const examined = async (dir: string, user = '') => {
      const exec = `ExecStart=/usr/local/bin/viewlog serve --data ${dir}`;
      fs.writeFileSync(UNIT, `[Service]\n${user}${exec}\n`);
      return doctor(data);
    };
    const start = async (dir: string) => (await examined(dir)).line('collector');
    expect(await start(data)).toMatch(/Start viewlog: (sudo )?systemctl restart viewlog\.service$/);
    expect(await start(`${data}-of-another`)).toContain(' serve --data ');
    for (const path of [data, join(data, 'projects.json')]) fs.chownSync(path, 4711, 4711);
    // viewlog refuses to run as root there.
    expect(await start(`${data}-of-another`)).toMatch(/setpriv --reuid=4711 .* serve --data /);
    for (const path of [data, join(data, 'projects.json')]) fs.chownSync(path, 0, 0);
    expect(await start(`${data}-of-another`)).toMatch(
      /Before you start viewlog, follow the advice under "user"/,
    );
    const [unset, set] = [await examined(data), await examined(data, 'User=daemon\n')];
    expect(unset.line('user')).toMatch(/^warning user: .* chown -R USER: /);
    expect(set.line('user')).toMatch(
      /^error user: The data directory ".*" belongs to root and .* viewlog\.service runs viewlog as daemon, .* chown -R daemon:daemon /,
    );
  },
);

it.skipIf(!isHere(NGINX))(
  'the doctor names the proxy that limits bodies, and the setting of that limit',
  async () => {
    const viewlog = await startWatched({ data: installation() });
    const limit = 'client_max_body_size 1k;';
    const { port } = await nginx(
      `server { listen 80; ${limit} location /view { proxy_pass ${viewlog.url}; } }`,
    );
    const url = `http://127.0.0.1:${port}`;
    const { code, line } = await doctor(viewlog.data, [...of(viewlog), '--url', url]);
    expect([code, line('url')]).toStrictEqual([0, `ok url: ${url}/view reaches viewlog.`]);
    expect(line('size')).toMatch(
      /^warning .*\(status 413 from nginx.*\(nginx: client_max_body_size;/,
    );
  },
);
