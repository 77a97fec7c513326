import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BUNDLE, isHere } from './support/runtimes.ts';
import { tempDir } from './support/temp-dir.ts';

// The configurations that the README gives, checked by the programs that they are for.

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The README's one code block in that language that has `part` in it. */
function block(language: string, part = ''): string {
  const blocks = Array.from(README.matchAll(/^```(\w+)\n(.*?)^```$/gms)).filter(
    ([, name, text]) => name === language && text!.includes(part),
  );
  expect(blocks).toHaveLength(1);
  return blocks[0]![2]!;
}

function file(name: string, text: string): string {
  const path = join(tempDir(), name);
  writeFileSync(path, text);
  return path;
}

/** What the program says; throws, with what it says, where it does not succeed. */
const check = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });

it.skipIf(!isHere('/usr/bin/systemd-analyze'))('the unit is one that systemd takes', () => {
  // The program and the user are not on the machine that tests.
  const unit = block('ini')
    .replace('/usr/local/bin/viewlog', BUNDLE)
    .replace('User=viewlog', 'User=root')
    .replace('Group=viewlog', 'Group=root');
  const args = ['verify', file('viewlog.service', unit)];
  // What it does not know it only mentions, and succeeds.
  const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  expect([status, stderr]).toStrictEqual([0, '']);
});

it.skipIf(!isHere('/usr/bin/caddy'))('the Caddyfile is one that Caddy takes', () => {
  const config = check('caddy', 'adapt', '--config', file('Caddyfile', block('caddyfile')));
  expect(config).toContain('"dial":"127.0.0.1:8080"');
});

it.skipIf(!isHere('/usr/sbin/nginx'))('the nginx configuration is one that nginx takes', () => {
  const dir = tempDir();
  const whole = `pid ${dir}/pid; events {} http { ${block('nginx')} }`;
  check('/usr/sbin/nginx', '-t', '-q', '-p', dir, '-e', 'stderr', '-c', file('nginx.conf', whole));
});

it.skipIf(!isHere('/usr/bin/promtool'))('Prometheus takes the scrape and the alerts', () => {
  const rules = check('promtool', 'check', 'rules', file('rules.yml', block('yaml', 'groups:')));
  expect(rules).toContain('SUCCESS: 2 rules found');
  check('promtool', 'check', 'config', file('p.yml', block('yaml', 'scrape_configs:')));
});
