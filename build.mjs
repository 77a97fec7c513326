// Bundles viewlog into dist/viewlog.mjs: one file that runs on Node, Deno and Bun and needs no
// other file. Also writes dist/THIRD_PARTY_LICENSES, the licences of what the bundle contains.
//   --compile  also makes dist/viewlog, which needs no runtime; needs Node 26
//   --release  fails if the commit is unknown or files differ from it
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build, transform } from 'esbuild';

const dist = join(import.meta.dirname, 'dist');

// The NATS client is CommonJS, and requires modules of the runtime when it is evaluated, at the
// first connection to a cluster. The bundle is an ES module, which has no `require`.
const REQUIRE = `import { createRequire } from 'node:module'; const require = (id) => createRequire('/')(id);`;

// Until 2.8, Deno's own timers were numbers without `unref`.
const TIMERS = `import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';`;

const page = await statusPage(join(import.meta.dirname, 'src/status/page'));
const script = join(import.meta.dirname, 'src/commands/snippet/script.ts');
/** The bundle's texts, compressed together: one by one, they would take 2.5 KiB more. */
const texts = {
  ...filesIn(join(import.meta.dirname, 'src/manual'), '.md'),
  ...filesIn(join(import.meta.dirname, 'src/manual'), '.txt'),
  ...filesIn(join(import.meta.dirname, 'src/commands/example/templates'), '.template'),
  ...filesIn(join(import.meta.dirname, 'data'), 'projects.schema.json'),
  'page.css': page.css,
  'page.js': page.js,
  'report.css': await minified(join(import.meta.dirname, 'src/report/report.css')),
  snippet: await snippet(script, false),
  'snippet --campaigns': await snippet(script, true),
};

/**
 * Shortens names, which are a tenth of the bundle. The exports of viewlog's own modules keep
 * theirs, because a stack trace needs them. Also shortens how CommonJS modules export, which saves
 * 17 KiB in the NATS client.
 */
const shortNames = {
  name: 'short-names',
  setup({ onLoad }) {
    onLoad({ filter: /\.(m?js|tsx?)$/ }, async ({ path }) => {
      const text = withoutUnused(withShortExports(readFileSync(path, 'utf8')));
      // With a format, esbuild also shortens the names of a module's exports.
      const options = path.includes('/node_modules/')
        ? { loader: 'js', format: /^(import|export) /m.test(text) ? 'esm' : 'cjs' }
        : {
            loader: path.endsWith('x') ? 'tsx' : 'ts',
            jsx: 'automatic',
            jsxImportSource: 'hono/jsx',
          };
      const isModule = /^(import|export) /m.test(text);
      const { code } = await transform(text + (isModule ? NESTED : ''), {
        ...options,
        minifyIdentifiers: true,
      });
      return { contents: code };
    });
  },
};

const LETTERS = 'etnriosaclupdhmfgywvbxkjqz'.split('');
const LOCALS = LETTERS.slice(0, 12);
/**
 * A function that is never called, so the bundle leaves it out. It makes esbuild choose the same
 * short names for the local variables of every module, and different names for what belongs to a
 * module. Otherwise names of two modules would collide, and esbuild would append numbers to
 * thousands of them.
 */
const NESTED = `
function nested(${LOCALS.join()}) {
  ${`${LOCALS.join(';')};`.repeat(150)}
  return '${LETTERS.map((letter, i) => letter.repeat(100 * (26 - i))).join('')}';
}`;

/**
 * `Object.defineProperty(exports, "x", { enumerable: true, get: function () { return m.x; } });`
 */
const EXPORT = String.raw`Object\.defineProperty\(exports, "(\w+)", \{ enumerable: true, get: function \(\) \{ return (\w+)\.\1; \} \}\);\s*`;
const EXPORTED =
  "const exported = (exports, from, names) => { for (const name of names.split(' ')) Object.defineProperty(exports, name, { enumerable: true, get: () => from()[name] }); };";

/**
 * Matches the `__esModule` flag of a CommonJS module and the `void 0` placeholders of its exports.
 * No code that viewlog runs reads either.
 */
const DECLARED = /^(Object\.defineProperty\(exports, "__esModule", .*|exports\.\w+ = .*void 0);$/gm;

/** The names that a module of the NATS client, or viewlog's own, takes from another one. */
const taken = new Set([
  ...['nats-core', 'jetstream', 'transport-node']
    .flatMap((name) => {
      const lib = join(import.meta.dirname, 'node_modules/@nats-io', name, 'lib');
      return Object.values(filesIn(lib, '.js'));
    })
    .flatMap((text) =>
      [...text.replace(new RegExp(EXPORT, 'g'), '').matchAll(/_\d+\.(\w+)/g)].map(
        ([, name]) => name,
      ),
    ),
  ...readFileSync(join(import.meta.dirname, 'src/jetstream/client.ts'), 'utf8').match(/\w+/g),
]);

/** Replaces neighbouring re-exports from one module with a single call, and leaves out unused ones. */
const withShortExports = (text) =>
  text.replace(DECLARED, '').replace(new RegExp(`(?:${EXPORT})+`, 'g'), (all) => {
    const names = new Map();
    for (const [, name, module] of all.matchAll(new RegExp(EXPORT, 'g'))) {
      if (taken.has(name)) names.set(module, [...(names.get(module) ?? []), name]);
    }
    return [...names]
      .map(([module, own]) => `exported(exports, () => ${module}, "${own.join(' ')}");`)
      .join('\n');
  });

/**
 * Methods of the NATS client: they list, pause, empty or measure, acknowledge, convert or compare, or
 * ask for several answers.
 */
const UNUSED_METHODS =
  /^    (static |async )?((isIdleHeartbeatMissed|isConsumerIsPushBased|isMaxWaitingExceeded|isRequestTimeout|isStreamDeleted|isBadRequest|addServer|getServerVersion|getReceived|getProcessed|resetDisabled|isDisabled|ackAck|nak|term|equals|fromRecord|toRecord|truncate|respondMessage|publishMessage|peek|readByte)\(|(advisories|debug|rtt|context|stats|requestInfo|working)\(\)|readFrom\(r\)|next\(subj|(last|values)\(k, match|update\(stream, |delete\(stream\)|get\(name\)|(consume|next)\(opts|getConsumerFromInfo\(|startBatch\(|purge\(name|(list|names)\(subject = ""|find\(subject\)|deleteMessage\(stream, seq|(list|pause|resume|unpin|reset)\(stream|requestMany\(subject).*?^    \}$/gms;

/**
 * Leaves out the enums of jsonc-parser, of Hono's server for Node the WebSockets, the readers of
 * bodies, how its objects are printed, and its own `Response.json` and `Response.redirect`, of
 * Hono's JSX the namespace of `svg` and `head`, and of the NATS client the publishers of batches,
 * the class of one stream, helpers, checks that the server repeats, features that nothing asks for,
 * many methods, and what returns a push consumer: viewlog needs none of them, but esbuild can't tell.
 */
const withoutUnused = (text) =>
  text
    .replace(/^export var (\w+);\n\(function \(\1\) \{\n.*?^\}\)\(\1 \|\| .*?;$/gms, '')
    .replace(/^\/\/#region src\/websocket\.ts$.*?^\/\/#endregion$/ms, 'let upgradeWebSocket;')
    .replace(
      /^const (newRequestFromIncoming|readBodyDirect|drainIncoming|(?:record|read)BodyBufferedBeforeDisconnect|enqueueBufferedBody) = \([\w, ]+\) => \{$.*?^\};$/gms,
      'const $1 = () => {};',
    )
    .replace(
      /^Object\.defineProperty\((Response\$1, "(json|redirect)"|requestPrototype, "(text|arrayBuffer|blob|bytes|json)"|[\w$]+(\.prototype)?, Symbol\.for\("nodejs\.util\.inspect\.custom"\)),.*?^\}( \})?\);$/gms,
      '',
    )
    .replace(
      /^\[[^\]]*\]\.forEach\(\(k\) => \{\s+Object\.defineProperty\((requestPrototype, k|Response\$1\.prototype, k, \{ value:).*?^\}\);$/gms,
      '',
    )
    .replace(/^    (async )?get(Ordered|Bound)?PushConsumer\(.*?^    \}$/gms, '')
    .replace(UNUSED_METHODS, '')
    .replace(
      /^ +(this\.set\(exports\.Feature\.)?JS_(KV|OBJECTSTORE|PULL_MAX_BYTES|ALLOW_DIRECT|CONSUMER_FILTER_SUBJECTS|STREAM_(?!CONSUMER)\w+|DEFAULT_CONSUMER_LIMITS|BATCH_DIRECT_GET|CONSUMER_RESET)[:,].*$/gm,
      '',
    )
    .replace(/^function (assertEveryAtLeastOneSecond)\(d\) \{$.*?^\}$/gms, 'function $1() {}')
    .replace(/^    (checkStreamConfigVersions)\(cfg\) \{$.*?^    \}$/gms, '    $1() {}')
    .replace(
      /^class ((?:BatchPublisher|FastIngest|Stream)Impl|Perf|RequestMany|SimpleMutex)( extends \w+)? \{\n.*?^\}$/gms,
      'class $1 {}',
    )
    .replace(/^function (debugDeferred|syncIterator)\(.*?^\}$/gms, 'function $1() {}')
    .replace(/^\telse if \(tag === "svg" \|\| tag === "head"\) \{$.*?^\t\} (?=else )/ms, '\t');

/**
 * Leaves out parts of packages that viewlog never calls:
 * - `node:http2`, which Hono's server for Node loads: 3% of a start.
 * - Hono's fallback router and the router that chooses between the two, its parser of forms, mounted
 *   applications, the contexts of its JSX, and the code that moves tags into a document's head.
 * - The NATS client's WebSockets, benchmark, push consumers, direct reads, lists, and cryptography
 *   for logins: 91 KiB. `node:net` replaces its parser of IP addresses.
 */
const without = {
  name: 'without',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^(node:)?http2$/ }, () => ({ path: 'http2', namespace: 'none' }));
    const hono =
      /\/((smart|trie)-router\/router|utils\/(body|mount)|intrinsic-element\/components)\.js$/;
    onResolve({ filter: hono }, () => ({ path: 'hono', namespace: 'none' }));
    onResolve({ filter: /^\.\/context\.js$/ }, ({ importer }) =>
      importer.includes('/hono/dist/jsx/') ? { path: 'hono', namespace: 'none' } : undefined,
    );
    onResolve(
      { filter: /^\.\/(ws_transport|bench|pushconsumer|jsm_direct|jslister|nkeys)$/ },
      () => ({
        path: 'nats',
        namespace: 'none',
      }),
    );
    onResolve({ filter: /^\.\/ipparser$/ }, () => ({ path: 'ip', namespace: 'none' }));
    const parts = {
      http2: 'export class Http2ServerRequest {} export const constants = {};',
      hono:
        'export class SmartRouter { constructor({ routers }) { return routers[0]; } }' +
        'export class TrieRouter {} export let parseBody, createMountedRequest;' +
        'export const components_exports = {}, globalContexts = [];' +
        'export const runWithRenderContext = (render) => render();' +
        'export let captureRenderContext, createContext, useContext;',
      nats: 'exports.DirectStreamAPIImpl = exports.ListerImpl = class {};',
      ip: "exports.isIP = require('node:net').isIP;",
    };
    onLoad({ filter: /./, namespace: 'none' }, ({ path }) => ({ contents: parts[path] }));
    // viewlog's own package.json: only its version is read.
    onLoad({ filter: /package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
    // All parts of the client import the internal module, which exports every public name.
    onResolve({ filter: /^@nats-io\/nats-core$/ }, ({ path, ...from }) =>
      resolve(`${path}/internal`, from),
    );
  },
};

const { outputFiles, metafile } = await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ['src/main.ts'],
  bundle: true,
  platform: 'node',
  target: 'node20',
  mainFields: ['module', 'main'], // jsonc-parser's `main` can't be bundled
  define: {
    COMMIT: JSON.stringify(commit()),
    TEXTS: '"TEXTS"',
    LICENCES: '"LICENCES"',
  },
  legalComments: 'none',
  // Smaller, but with the lines and names that a stack trace needs.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 8_000,
  charset: 'utf8',
  logLevel: 'warning',
  plugins: [shortNames, without],
  format: 'esm',
  banner: { js: `#!/usr/bin/env node\n${REQUIRE}\n${TIMERS}\n${EXPORTED}` },
  outfile: join(dist, 'viewlog.mjs'),
  write: false,
  metafile: true,
});

const licences = licencesOf([metafile, page.metafile]);
mkdirSync(dist, { recursive: true });
writeFileSync(join(dist, 'THIRD_PARTY_LICENSES'), licences);
writeFileSync(join(dist, 'viewlog.mjs'), withTexts(licences));
chmodSync(join(dist, 'viewlog.mjs'), 0o755);

if (process.argv.includes('--compile')) compile(join(dist, 'viewlog'));

/**
 * Returns the bundle with its texts, which esbuild would break into lines, and with the licences,
 * which only the finished bundle determines.
 */
function withTexts(text) {
  const all = { '"TEXTS"': texts, '"LICENCES"': { text } };
  return Object.entries(all).reduce((bundle, [name, byName]) => {
    const parts = bundle.split(name);
    if (parts.length !== 2) throw new Error(`the bundle must contain ${name} once`);
    return parts.join(compressed(byName));
  }, outputFiles[0].text);
}

/**
 * Returns the built commit, marked `-dirty` if files differ from it; empty if it is unknown. The
 * projects file is the operator's: the bundle doesn't contain it, and `activate` changes it.
 */
function commit() {
  const cwd = import.meta.dirname;
  const options = { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
  // Without safe.directory, git refuses a checkout that belongs to another user, as in a container.
  const git = (...args) =>
    execFileSync('git', ['-c', `safe.directory=${cwd}`, ...args], options).trim();
  let found = '';
  let cause = "this isn't a git checkout";
  try {
    // Otherwise git could find the checkout of another project that contains this directory.
    if (existsSync(join(cwd, '.git'))) {
      found = git('describe', '--always', '--abbrev=7', '--exclude=*');
      const changed = git('status', '--porcelain', '-uno', '.', ':!data/projects.json');
      if (changed !== '') found += '-dirty';
    }
  } catch (error) {
    cause = String(error.stderr || error.message).trim();
  }
  if (process.argv.includes('--release') && (found === '' || found.endsWith('-dirty'))) {
    console.error(`error: a release needs a known, unchanged commit: ${found || cause}`);
    process.exit(1);
  }
  if (found === '') console.error(`warning: the build names no commit: ${cause}`);
  return found;
}

/**
 * Returns the licence of each package whose code is in an output.
 * @param metafiles esbuild's descriptions of the outputs.
 */
function licencesOf(metafiles) {
  const outputs = metafiles.flatMap((one) => Object.values(one.outputs));
  const inputs = outputs.flatMap((output) => Object.entries(output.inputs));
  const dirs = inputs.flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 ? (/^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []) : [],
  );
  const notices = [...new Set(dirs)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((dir) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(dir, 'package.json'), 'utf8'),
      );
      const file = readdirSync(dir).find((one) => /^licen[cs]e/i.test(one));
      if (file === undefined) throw new Error(`${name} has no file with its licence`);
      return notice(`${name} ${version} (${license})`, readFileSync(join(dir, file), 'utf8'));
    });
  return `viewlog's bundle contains these packages.\n${notices.join('')}`;
}

function notice(title, text) {
  return `\n${'='.repeat(title.length)}\n${title}\n\n${text.trim()}\n`;
}

/** Returns the status page's script and style. */
async function statusPage(folder) {
  const options = { bundle: true, minify: true, write: false, target: 'es2022', metafile: true };
  const entryPoints = [join(folder, 'page.ts'), join(folder, 'page.css')];
  const { outputFiles, metafile } = await build({ ...options, entryPoints, outdir: folder });
  const [js, css] = outputFiles.map((file) => file.text);
  return { css, js, metafile };
}

async function minified(stylesheet) {
  const { code } = await transform(readFileSync(stylesheet, 'utf8'), {
    loader: 'css',
    minify: true,
  });
  return code.trim();
}

/** Returns the texts in a folder, by the names of their files. */
function filesIn(folder, extension) {
  const files = readdirSync(folder).filter((file) => file.endsWith(extension));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

/**
 * Compresses texts by name, for `src/base/built.ts`, into less than half their size: names and
 * texts in turn, with a NUL between them.
 */
function compressed(byName) {
  const text = Object.entries(byName).flat().join('\0');
  return `"${inBase91(brotliCompressSync(text))}"`;
}

/**
 * Returns the bytes in base 91, which takes a thirteenth less than base64: two digits for 13 bits,
 * the low digit first. The digits are the characters from `#` to `~` without the backslash.
 */
function inBase91(bytes) {
  const codes = [];
  const add = (digit) => codes.push(digit + 35 < 92 ? digit + 35 : digit + 36);
  let [bits, count] = [0, 0];
  // The last pair is filled up with zeros.
  for (const byte of [...bytes, 0, 0]) {
    bits |= byte << count;
    count += 8;
    if (count < 13) continue;
    const value = bits & 0x1fff;
    add(value % 91);
    add(Math.floor(value / 91));
    bits >>= 13;
    count -= 13;
  }
  return Buffer.from(codes).toString();
}

/** Returns the script for a project's pages, on one line. */
async function snippet(entryPoint, keepsCampaigns) {
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    define: { CAMPAIGNS: String(keepsCampaigns) },
    minify: true,
    write: false,
    target: 'es2021',
    tsconfigRaw: { compilerOptions: { alwaysStrict: false } }, // saves 13 bytes
  });
  return outputFiles[0].text.trim();
}

/** Makes Node's single executable: a copy of the running Node with the bundle inside. */
function compile(executable) {
  const [major] = process.versions.node.split('.');
  if (Number(major) < 26) {
    console.error(`error: --compile needs Node 26 or later; this is Node ${process.versions.node}`);
    process.exit(1);
  }
  const folder = mkdtempSync(join(tmpdir(), 'viewlog-build-'));
  const main = join(folder, 'viewlog.mjs');
  const config = join(folder, 'sea.json');
  try {
    const nodes = readFileSync(join(dirname(process.execPath), '../LICENSE'), 'utf8');
    writeFileSync(main, withTexts(licences + notice(`Node.js ${process.versions.node}`, nodes)));
    rmSync(executable, { force: true }); // a running executable can't be overwritten
    const options = { main, mainFormat: 'module', output: executable };
    writeFileSync(config, JSON.stringify({ ...options, disableExperimentalSEAWarning: true }));
    execFileSync(process.execPath, ['--build-sea', config], { stdio: 'pipe' });
    chmodSync(executable, 0o755);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
