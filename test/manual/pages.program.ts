import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/base/exit.ts';
import { layOut } from '../../src/manual/lay-out.ts';
import { findText, READERS, TOPICS } from '../../src/manual/pages.ts';
import { REFUSALS } from '../../src/view/refusal.ts';
import { blocksOf, MANUAL, PAGES, read, ROOT } from '../support/documents.ts';
import { startWatched } from '../support/status.ts';
import { BUNDLE } from '../support/runtimes.ts';
import { run } from '../support/viewlog.ts';

// Tests the manual: its pages, the links between them, and how `viewlog help TOPIC` prints them.

/** Returns the anchor of a heading by GitHub's rule. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The manual's texts by file name. */
const TEXTS = Object.fromEntries(
  [...PAGES, `${MANUAL}/synonyms.txt`].map((path) => [basename(path), read(path)]),
);

const withoutCode = (markdown: string): string => markdown.replace(/^```\w*\n.*?^```$/gms, '');

const anchorsOf = (markdown: string): string[] =>
  Array.from(withoutCode(markdown).matchAll(/^#+ (.*)$/gm), ([, heading]) => anchorOf(heading!));

const DOCUMENTS = ['README.md', '.github/CONTRIBUTING.md', ...PAGES].filter((path) =>
  existsSync(join(ROOT, path)),
);

describe('the documentation', () => {
  it('has one page for each topic that `viewlog help` lists', () => {
    expect(PAGES.map((path) => basename(path, '.md'))).toStrictEqual([...TOPICS].sort());
  });

  it.each(DOCUMENTS)('has only links to existing files and headings in %s', (path) => {
    const links = withoutCode(read(path)).matchAll(/\]\((?!https?:)([^#)\s]*)(?:#([^)\s]+))?\)/g);
    const gone = Array.from(links).filter(([, file, anchor]) => {
      const target = file === '' ? path : join(dirname(path), file!);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(gone.map(([link]) => link)).toStrictEqual([]);
  });

  it('names only existing commands and options, as do the examples in `viewlog help`', async () => {
    const names = await commandNames();
    const helps = await Promise.all(names.map(async (name) => (await run(['help', name])).stdout));
    for (const [i, help] of helps.entries()) {
      const [options, example = ''] = help.split('\nFor example:\n');
      expect(example).toMatch(new RegExp(`^  viewlog ${names[i]!}\\b`));
      expect(options!.split('\n').filter((line) => line.length > 80)).toStrictEqual([]);
      const [line = ''] = example.split('\n');
      for (const flag of line.match(/--[a-z-]+/g) ?? []) expect(options).toContain(`  ${flag} `);
    }
    const known = new Set([...(helps.join('\n').match(/--[a-z][a-z-]+/g) ?? []), '--help']);
    const wrong = DOCUMENTS.flatMap((path) =>
      typedIn(read(path)).filter((line) => {
        const [, word = ''] = /^viewlog ([a-z][a-z-]*)/.exec(line) ?? [];
        const flags = line.match(/(?<= )--[a-z][a-z-]+/g) ?? [];
        const isCommand = word === '' || names.includes(word);
        return !isCommand || flags.some((flag) => !known.has(flag));
      }),
    );
    expect(wrong).toStrictEqual([]);
  });
});

describe('the manual', () => {
  it('names every refusal code on the pages trouble and api, and every exit code on trouble', () => {
    const [trouble, api] = [read(`${MANUAL}/trouble.md`), read(`${MANUAL}/api.md`)];
    for (const code of Object.keys(REFUSALS)) {
      expect(trouble).toContain(`\`${code}\``);
      expect(api).toContain(`\`${code}\``);
    }
    for (const code of Object.values(EXIT)) {
      if (code !== EXIT.done) expect(trouble).toContain(`\n## Exit ${code}\n`);
    }
  });

  it('names every metric, and no other, on the page reference', async () => {
    const [, section = ''] = read(`${MANUAL}/reference.md`).split('\n## Metrics\n');
    const [ofFiles = ''] = section.split('\nWith [`--store`]');
    const listed = ofFiles.matchAll(/`((?:viewlog|process)_\w+)/g);
    const { statusUrl } = await startWatched();
    const metrics = await (await fetch(`${statusUrl}/metrics`)).text();
    const served = metrics.matchAll(/^# HELP (\S+)/gm);
    const [names, expected] = [listed, served].map((found) =>
      Array.from(found, ([, name]) => name!).toSorted(),
    );
    expect(names).toStrictEqual(expected);
  });

  it('names every command with its options on the page reference', async () => {
    const [table = '', options = ''] = read(`${MANUAL}/reference.md`).split('\n## Configuration\n');
    const [ofServe = '', ofOthers = ''] = options.split('\n### Other commands\n');
    // A row without a command belongs to the row above.
    const rowsOf = Object.fromEntries(
      ofOthers.split(/^(?=\| `)/m).map((rows) => [/^\| `([a-z]+)`/.exec(rows)?.[1] ?? '', rows]),
    );
    for (const name of await commandNames()) {
      expect(table).toMatch(`\n| \`${name}`);
      const flags = (await run(['help', name])).stdout.match(/^ {2}--[a-z-]+/gm) ?? [];
      const isOfServe = ['serve', 'example', 'doctor'].includes(name);
      const shared = isOfServe ? ofServe : '`--data `--projects `--host `--port';
      const missing = flags.filter((flag) => {
        return ![shared, rowsOf[name] ?? ''].some((text) => text.includes(`\`${flag.trim()}`));
      });
      expect([name, missing]).toStrictEqual([name, []]);
    }
  });
});

/** Returns the commands of a document: `viewlog …` in backticks, or in a block for a shell. */
function typedIn(markdown: string): string[] {
  const spans = Array.from(withoutCode(markdown).matchAll(/`([^`]+)`/g), ([, code]) => code!);
  const shell = blocksOf(markdown).filter(({ language }) => language === 'sh');
  return [...spans, ...shell.flatMap(({ text }) => text.split('\n'))].flatMap(
    (line) =>
      /^(?:sudo (?:-u viewlog )?)?(viewlog (?!listening on).*?)( [|>#&]|$)/.exec(line)?.[1] ?? [],
  );
}

/** Returns the commands that `viewlog help` lists. */
async function commandNames(): Promise<string[]> {
  const [commands = ''] = (await run(['help'])).stdout.split('\nviewlog help COMMAND');
  return Array.from(commands.matchAll(/^ {2}([a-z-]+) /gm), ([, name]) => name!);
}

describe('viewlog help', () => {
  it('lists the topics by reader, none with the name of a command', async () => {
    const { stdout } = await run(['help']);
    for (const [reader, topics] of Object.entries(READERS)) {
      expect(stdout).toContain(`\n${reader}\n  ${Object.keys(topics)[0]!} `);
    }
    for (const topic of TOPICS) expect(stdout).toMatch(new RegExp(`^  ${topic} +\\S`, 'm'));
    const names = await commandNames();
    expect(names).toContain('help');
    expect(names.filter((name) => TOPICS.includes(name))).toStrictEqual([]);
  });

  it.each(TOPICS)('prints the whole page "%s" in 80 columns', async (topic) => {
    const { code, stdout, stderr } = await run(['help', topic]);
    expect([code, stderr]).toStrictEqual([0, '']);
    const page = read(`${MANUAL}/${topic}.md`);
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/\u001b/);
    for (const { text } of blocksOf(page)) expect(stdout).toContain(text);
    for (const heading of withoutCode(page).match(/^#+ .*$/gm)!) expect(stdout).toContain(heading);
    const wide = withoutCode(stdout)
      .split('\n')
      .filter((line) => line.length > 80 && !/^ {2}.* {2}\S|^#/.test(line));
    // Commands and addresses stay on one line.
    const whole = /^(- |\d+\. | +)?\S*(`[^`]+`)?\S*$/;
    expect(wide.filter((line) => !whole.test(line))).toStrictEqual([]);
  });

  it.each([
    ['caddy', 'proxies', '## Caddy'],
    ['retention', 'running', '## Retention'],
    ['update', 'running', '## Updates and rollback'],
    ['upgrade', 'running', '## Updates and rollback'],
    ['rollback', 'running', '## Updates and rollback'],
    ['downgrade', 'running', '## Updates and rollback'],
    ['migration', 'running', '## Updates and rollback'],
    ['body cut off', 'trouble', '## 400'],
    ['429', 'trouble', '## 429'],
    ['keep-days', 'privacy', '## Deleting data'],
    ['consent', 'privacy', '## Do I need consent?'],
    ['banner', 'privacy', '## Do I need consent?'],
    ['cookie', 'privacy', '## Do I need consent?'],
    ['third party', 'privacy', '## Third parties and processors'],
    ['third parties', 'privacy', '## Third parties and processors'],
    ['processors', 'privacy', '## Third parties and processors'],
    ['dpa', 'privacy', '## Third parties and processors'],
    ['proxy log', 'privacy', "## Addresses in the proxy's log"],
    ['objection', 'privacy', '## Visitors who object'],
    ['gpc', 'privacy', '## Visitors who object'],
    ['config', 'reference', '## Configuration'],
    ['cut off', 'trouble', '## 400'],
    ['tls', 'proxies', '## HTTPS and TLS'],
    ['https', 'proxies', '## HTTPS and TLS'],
    ['kubernetes', 'containers', '## Kubernetes'],
    ['service', 'running', '## systemd'],
    ['options', 'running', '## Change options of the unit'],
    ['unit', 'running', '## Change options of the unit'],
    ['change options', 'running', '## Change options of the unit'],
    ['chown', 'running', '## Backups'],
    ['monitoring', 'running', '## Alerts'],
    ['spam', 'security', '## A flood'],
    ['bots', 'send', "## Views that aren't counted"],
    ['duplicates', 'trouble', '## A view is stored twice'],
    ['limits', 'trouble', '## 429'],
    ['rate limit', 'trouble', '## 429'],
    ['last-start.json', 'privacy', '## What is stored, and where'],
    ['faulty', 'projects-file', '## If the file is invalid'],
    ['limit', 'trouble', '## 429'],
    ['rotation', 'shipping', '## Rotation and incomplete lines'],
    ['rotate', 'shipping', '## Rotation and incomplete lines'],
    ['logrotate', 'shipping', '## Rotation and incomplete lines'],
    ['half line', 'shipping', '## Rotation and incomplete lines'],
    ['backup', 'running', '## Backups'],
    ['restore', 'running', '## Backups'],
    ['cron', 'looking', '## A weekly report by cron'],
    ['weekly', 'looking', '## A weekly report by cron'],
    ['e-mail', 'looking', '## A weekly report by cron'],
    ['email', 'looking', '## A weekly report by cron'],
    ['referrer', 'looking', '## What the lists count'],
    ['timezone', 'looking', '## Which days'],
    ['real time', 'looking', '## Watch views arrive'],
    ['csv', 'looking', '## With jq and DuckDB'],
    ['export', 'looking', '## With jq and DuckDB'],
    ['bind', 'start', '## Use another port or directory'],
    ['listen', 'start', '## Use another port or directory'],
    ['port', 'start', '## Use another port or directory'],
    ['uninstall', 'start', '## Uninstall'],
    ['log', 'running', '## The log'],
    ['access log', 'running', '## The log'],
    ['see the log', 'running', '## The log'],
    ['alert', 'running', '## Alerts'],
    ['grafana', 'running', '## Alerts'],
    ['migrate', 'running', '## Move to another server'],
    ['move server', 'running', '## Move to another server'],
    ['another site', 'projects-file', '## Edit it with commands'],
    ['second site', 'projects-file', '## Edit it with commands'],
    ['several sites', 'projects-file', '## Edit it with commands'],
    ['amp', 'send', '## Where to put the script'],
    ['wordpress', 'send', '## Where to put the script'],
    ['react', 'send', '## Single-page sites'],
    ['single page', 'send', '## Single-page sites'],
    ['spa', 'send', '## Single-page sites'],
    ['utm', 'send', '# Sending views from a page'],
    ['adblock', 'send', "## Views that aren't counted"],
    ['noscript', 'send', "## Views that aren't counted"],
    ['opt out', 'send', "## Views that aren't counted"],
    ['csp', 'send', '## Content-Security-Policy'],
    ['cors', 'trouble', '## CORS error'],
    ['403', 'trouble', '## 403'],
    ['413', 'trouble', '## 413'],
    ['422', 'trouble', '## 422'],
    ['503', 'trouble', '## 503'],
    ['port in use', 'trouble', '## Exit 69'],
    ['password', 'security', "## The status server's token"],
    ['authentication', 'security', "## Views aren't authenticated"],
    ['apache', 'proxies', '## Other proxies'],
    ['windows', 'runtimes', '# Runtimes and platforms'],
    ['gzip', 'shipping', '## Compressing old days'],
    ['data', 'privacy', '## What is stored, and where'],
    ['disk', 'trouble', '## Disk full'],
    ['space', 'trouble', '## Disk full'],
    ['full', 'trouble', '## Disk full'],
    ['no views', 'trouble', '## Nothing arrives'],
    ['views missing', 'trouble', '## Nothing arrives'],
    ['silent', 'trouble', '## A site went silent'],
    ['connection refused', 'trouble', '## 502'],
    ['memory', 'guarantees', '## Load'],
    ['crash', 'guarantees', '## A crash'],
    ['power cut', 'guarantees', '## A 201'],
    ['permission denied', 'security', '## Permissions'],
    ['stop', 'running', '## Restarts'],
    ['install', 'start', '## Install it'],
    ['nginx', 'proxies', '## nginx'],
    ['systemd', 'running', '## systemd'],
    ['docker', 'containers', '# Containers'],
    ['bun', 'runtimes', '## Bun'],
    ['clickhouse', 'shipping', '## ClickHouse'],
    ['sql', 'looking', '## With jq and DuckDB'],
    ['query', 'looking', '## What the lists count'],
    ['ip address', 'privacy', '## Do I need consent?'],
    ['session', 'privacy', '## Do I need consent?'],
    ['unique visitors', 'privacy', '## Do I need consent?'],
    ['exit code', 'reference', '## Exit codes'],
    ['no space left', 'trouble', '## Disk full'],
    ['ENOSPC', 'trouble', '## Disk full'],
    ['EACCES', 'security', '## Permissions'],
    ['EADDRINUSE', 'trouble', '## Exit 69'],
    ['bad gateway', 'trouble', '## 502'],
    ["won't start", 'trouble', '## Ask the doctor'],
    ['how do I stop it', 'running', '## Restarts'],
    ['views stopped', 'trouble', '## A site went silent'],
    ['nothing shows up', 'trouble', '## Nothing arrives'],
    ['log rotation', 'shipping', '## Rotation and incomplete lines'],
    ['invalid json', 'trouble', '## 400'],
    ['double counting', 'trouble', '## A view is stored twice'],
    ['out of memory', 'guarantees', '## Load'],
    ['forgot token', 'security', "## The status server's token"],
    ['uptime kuma', 'status-page', '## Uptime monitors'],
    ['processor', 'privacy', '## Third parties and processors'],
    ['data retention', 'running', '## Retention'],
    ['cookie banner', 'privacy', '## Do I need consent?'],
    ['delete a visitor', 'privacy', '## Deleting data'],
    ['lawyer', 'privacy', '## Do I need consent?'],
    ['no data', 'trouble', '## Nothing arrives'],
    ['invalid projects file', 'projects-file', '## If the file is invalid'],
    ['too many requests', 'trouble', '## 429'],
    ['disk full', 'trouble', '## Disk full'],
    ['full disk', 'trouble', '## Disk full'],
    ['my disk is full', 'trouble', '## Disk full'],
    ['why won’t it start', 'trouble', '## Ask the doctor'],
    ["service won't start", 'trouble', '## Ask the doctor'],
    ['service unavailable', 'trouble', '## 503'],
    ['gateway timeout', 'trouble', '## 502'],
    ['forbidden', 'trouble', '## 403'],
    ['origin not allowed', 'trouble', '## 403'],
    ['method not allowed', 'trouble', '## 405'],
    ['payload too large', 'trouble', '## 413'],
    ['content type', 'trouble', '## 415'],
    ['request timeout', 'trouble', '## 408'],
    ['unauthorized', 'trouble', "## The status page doesn't open"],
    ['read-only file system', 'trouble', '## Exit 73'],
    ['already running', 'trouble', '## Exit 73'],
    ['what does exit 73 mean', 'trouble', '## Exit 73'],
    ['listen EADDRINUSE: address already in use 127.0.0.1:8080', 'trouble', '## Exit 69'],
    ['port 8080 in use', 'trouble', '## Exit 69'],
    ['vector sends nothing', 'trouble', '## The shipper sends nothing'],
    ['site stopped sending', 'trouble', '## A site went silent'],
    ['views counted twice', 'trouble', '## A view is stored twice'],
    ['cors blocked', 'trouble', '## CORS error'],
    ['csp error', 'send', '## Content-Security-Policy'],
    ["old files aren't removed", 'privacy', '## Deleting data'],
    ['how long is data kept', 'privacy', '## What is stored, and where'],
    ['how can I add a site', 'projects-file', '## Edit it with commands'],
    ['how do I change the port', 'running', '## Change options of the unit'],
    ['how do I move it to another server', 'running', '## Move to another server'],
    ['can I use cloudflare', 'proxies', '## Other proxies'],
    ['the server ran out of memory', 'guarantees', '## Load'],
    ['report per week', 'looking', '## A weekly report by cron'],
    ['does it set a cookie', 'privacy', '## Do I need consent?'],
  ])('finds "%s" on the page "%s", under "%s"', (word, topic, heading) => {
    const text = findText(word.toLowerCase(), TEXTS)!;
    expect(text.split('\n')[0]).toBe(heading);
    expect(text).toContain(`The whole page: \`viewlog help ${topic}\``);
  });

  it('prints the page of a command unless a heading has the words after it too', async () => {
    expect((await run(['help', 'verify', 'views-2026-01-31.ndjson'])).stdout).toMatch(
      /^viewlog verify /,
    );
    expect((await run(['help', 'check', 'files'])).stdout).toMatch(/^## Check files\n/);
  });

  it('ignores the word "viewlog"', async () => {
    const [asked, short] = await Promise.all(
      [['update', 'viewlog'], ['update']].map((words) => run(['help', ...words])),
    );
    expect(asked!.stdout).toBe(short!.stdout);
    expect(asked!.stdout).toMatch(/^## Updates and rollback\n/);
  });

  it.each(['caddy', 'not working'])('prints what it finds for "%s"', async (word) => {
    const { code, stdout } = await run(['help', word]);
    expect([code, stdout]).toStrictEqual([0, `${layOut(findText(word, TEXTS)!, 80, false)}\n`]);
  });

  it.each([
    ['status', 'status-page'],
    ['status page', 'status-page'],
    ['dashboard', 'status-page'],
    ['view', 'looking'],
    ['views', 'looking'],
    ['title', 'fields'],
    ['gdpr', 'privacy'],
    ['url', 'fields'],
    ['nats', 'cluster'],
    ['ship', 'shipping'],
    ['elasticsearch', 'shipping'],
    ['refused', 'trouble'],
    ['slow', 'speed'],
    ['is it slow', 'speed'],
    ['how do I see the views', 'looking'],
    ['start', 'start'],
    ['domain', 'projects-file'],
    ['hostname', 'projects-file'],
    ['performance', 'speed'],
    ['not working', 'trouble'],
  ])('finds "%s" on the page "%s"', (word, topic) => {
    expect(findText(word.toLowerCase(), TEXTS)).toBe(TEXTS[`${topic}.md`]);
  });

  it('finds a page or a heading for every synonym', () => {
    const lines = TEXTS['synonyms.txt']!.trimEnd().split('\n');
    const words = lines.flatMap((line) => line.split(': ')[1]!.split(', '));
    expect(new Set(words).size).toBe(words.length);
    for (const line of lines) {
      const [known = '', ...phrases] = line.split(/[:,] /);
      const text = findText(known, TEXTS)!;
      for (const phrase of phrases)
        expect([phrase, findText(phrase, TEXTS)]).toEqual([phrase, text]);
      const [heading = ''] = text.split('\n');
      if (!TOPICS.includes(known)) expect(heading.toLowerCase()).toContain(known);
    }
  });

  it('shows the correct hash of the script that honours Global Privacy Control', () => {
    const page = read('src/manual/privacy.md');
    const [, script = ''] = /```html\n<script>(.*?)<\/script>/s.exec(page) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(page).toContain(`\`'sha256-${hash}'\``);
  });

  it.each([
    ['truoble', 'Did you mean trouble?'],
    ['retentoin', 'Did you mean retention?'],
    ['enosppc', 'Did you mean enospc?'],
    ['what is it', `To list all commands and pages: ${process.execPath} ${BUNDLE} help`],
    ['(?:', `To list all commands and pages: ${process.execPath} ${BUNDLE} help`],
  ])('refuses the unknown word "%s"', async (word, hint) => {
    const { code, stderr } = await run(['help', word]);
    expect([code, stderr]).toStrictEqual([64, `error: No help for "${word}". ${hint}\n`]);
  });
});
