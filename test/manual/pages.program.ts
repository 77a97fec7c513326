import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/base/exit.ts';
import { layOut } from '../../src/manual/lay-out.ts';
import { Manual } from '../../src/manual/find.ts';
import { READERS, TOPICS } from '../../src/manual/pages.ts';
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

/** The hint on an unknown word that has no near one. */
const LIST = `To list all commands and pages: ${process.execPath} ${BUNDLE} help`;

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
    const helps = await Promise.all(names.map(helpOf));
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
      const flags = (await helpOf(name)).match(/^ {2}--[a-z-]+/gm) ?? [];
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

/** What `viewlog help NAME` has printed, because each run takes a process. */
const printed = new Map<string, Promise<string>>();

function helpOf(name = ''): Promise<string> {
  const help =
    printed.get(name) ?? run(['help', name].filter(Boolean)).then(({ stdout }) => stdout);
  printed.set(name, help);
  return help;
}

const MANUAL_TEXTS = new Manual(TEXTS);

/** Returns the page of a topic in 80 columns, as \`viewlog help\` prints it first. */
const printedPage = (topic: string): string =>
  layOut(MANUAL_TEXTS.find(topic).text!, 80, false).trimEnd();

/** Returns the commands that `viewlog help` lists. */
async function commandNames(): Promise<string[]> {
  const [commands = ''] = (await helpOf()).split('\nviewlog help COMMAND');
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

  it('prints a whole page', async () => {
    const { code, stdout, stderr } = await run(['help', 'start']);
    expect([code, stderr]).toStrictEqual([0, '']);
    expect(stdout).toBe(`${printedPage('start')}\n`);
  });

  it.each(TOPICS)('prints the whole page "%s" in 80 columns', (topic) => {
    const stdout = printedPage(topic);
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

  it('prints the page of a command, alone or with operands, but answers questions', async () => {
    expect((await run(['help', 'verify', 'views-2026-01-31.ndjson'])).stdout).toMatch(
      /^viewlog verify /,
    );
    expect((await run(['help', 'check', 'files'])).stdout).toMatch(/^## Check files\n/);
    const line = 'Projects file "/data/projects.json" is empty; restore the file from a backup';
    expect((await run(['help', ...line.split(' ')])).stdout).toMatch(
      /^## If the file is invalid\n/,
    );
  });

  it('ignores the word "viewlog"', async () => {
    const [asked, short] = await Promise.all(
      [['update', 'viewlog'], ['update']].map((words) => run(['help', ...words])),
    );
    expect(asked!.stdout).toBe(short!.stdout);
    expect(asked!.stdout).toMatch(/^## Updates and rollback\n/);
  });

  it.each(['caddy', 'Not working', 'docker', 'JetStream permissions', '--max-rate'])(
    'prints what it finds for "%s"',
    async (asked) => {
      const { text, listed } = MANUAL_TEXTS.find(asked.toLowerCase());
      const { code, stdout } = await run(['help', asked]);
      const printed = text
        ? layOut(text, 80, false).trimEnd()
        : `${asked.startsWith('--') ? 'viewlog has no option' : 'No section is clearly about'} "${asked}". These come closest:`;
      expect(code).toBe(0);
      expect(stdout.startsWith(printed)).toBe(true);
      const others = listed.slice(text === undefined ? 0 : 1);
      const commands = stdout.slice(printed.length).match(/^ {2}.*$/gm) ?? [];
      expect(commands.length).toBe(others.length);
      for (const [i, command] of commands.slice(0, 2).entries()) {
        const section = execFileSync('sh', ['-c', command], { encoding: 'utf8' });
        expect(section.toLowerCase()).toContain(others[i]!.at(-1)!.toLowerCase());
      }
    },
  );

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
    ['prot', 'Did you mean port?'],
    ['serv', 'Did you mean serve?'],
    ['keep-dyas', 'Did you mean keep-days?'],
    ...['pizza', 'kafkaesque'].map((word) => [word, LIST]),
    ['what is it', LIST],
    ['(?:', LIST],
  ])('refuses the unknown word "%s"', async (word, hint) => {
    const { code, stderr } = await run(['help', word]);
    expect([code, stderr]).toStrictEqual([64, `error: No help for "${word}". ${hint}\n`]);
  });
});
