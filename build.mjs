// Bundles viewlog into dist/viewlog.mjs: one file that runs on Node, Deno and Bun with nothing
// beside it. With --compile also makes dist/viewlog, which needs no runtime installed either.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build, transform } from 'esbuild';

const dist = join(import.meta.dirname, 'dist');

// The NATS client is CommonJS, and asks for modules of the runtime when it is evaluated, which is
// when a cluster is connected to. An ES module has no `require` of its own for it.
const REQUIRE = `import { createRequire } from 'node:module'; const require = (id) => createRequire('/')(id);`;

const page = await statusPage(join(import.meta.dirname, 'src/status/page'));
const reportStyle = await minified(join(import.meta.dirname, 'src/report/report.css'));
const script = join(import.meta.dirname, 'src/commands/snippet/script.ts');
const snippets = { plain: await snippet(script, false), campaigns: await snippet(script, true) };
const manual = texts(join(import.meta.dirname, 'src/manual'), '.md');
const templates = texts(join(import.meta.dirname, 'src/commands/example/templates'), '.template');

/**
 * Shortens the inner names of packages, half of the bundle: no stack trace of viewlog's own code
 * needs them.
 */
const shortNames = {
  name: 'short-names',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/.*\.m?js$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), { minifyIdentifiers: true });
      return { contents: code };
    });
  },
};

/**
 * Leaves out parts of packages that viewlog never calls. Hono's server for Node asks for HTTP/2: 3%
 * of a start. The NATS client has WebSockets, a benchmark, consumers that servers push to, and
 * cryptography of its own for logins: 80 KiB.
 */
const without = {
  name: 'without',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^(node:)?http2$/ }, () => ({ path: 'http2', namespace: 'none' }));
    onResolve({ filter: /^@nats-io\/nkeys$|^\.\/(ws_transport|bench|pushconsumer)$/ }, () => ({
      path: 'nats',
      namespace: 'none',
    }));
    onLoad({ filter: /./, namespace: 'none' }, ({ path }) => ({
      contents:
        path === 'http2' ? 'export class Http2ServerRequest {} export const constants = {};' : '',
    }));
    // The internal module, which all parts of the client import, has all its public names.
    onResolve({ filter: /^@nats-io\/nats-core$/ }, ({ path, ...from }) =>
      resolve(`${path}/internal`, from),
    );
  },
};

const bundle = {
  absWorkingDir: import.meta.dirname,
  entryPoints: ['src/main.ts'],
  inject: ['src/node-globals.ts'],
  bundle: true,
  platform: 'node',
  target: 'node20',
  mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
  define: {
    COMMIT: JSON.stringify(commit()),
    STATUS_PAGE: packed(page),
    MANUAL: packed(manual),
    REPORT_STYLE: JSON.stringify(reportStyle),
    TEMPLATES: packed(templates),
    SNIPPETS: packed(snippets),
  },
  legalComments: 'none',
  // Smaller, but with the lines and names that a stack trace needs.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 100,
  logLevel: 'warning',
  plugins: [shortNames, without],
};

await build({
  ...bundle,
  format: 'esm',
  outfile: join(dist, 'viewlog.mjs'),
  banner: { js: `#!/usr/bin/env node\n${REQUIRE}` },
});
chmodSync(join(dist, 'viewlog.mjs'), 0o755);

if (process.argv.includes('--compile')) await compile(join(dist, 'viewlog'));

/** Returns the built commit, marked if files differ from it; empty outside a git checkout. */
function commit() {
  if (!existsSync(join(import.meta.dirname, '.git'))) return '';
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=7', '--exclude=*'];
    const options = {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    };
    return execFileSync('git', args, options).trim();
  } catch {
    return ''; // git is not installed
  }
}

/** Returns the status page's script and style. */
async function statusPage(folder) {
  const options = { bundle: true, minify: true, write: false, target: 'es2022' };
  const entryPoints = [join(folder, 'page.ts'), join(folder, 'page.css')];
  const { outputFiles } = await build({ ...options, entryPoints, outdir: folder });
  const [js, css] = outputFiles.map((file) => file.text);
  return { css, js };
}

async function minified(stylesheet) {
  const { code } = await transform(readFileSync(stylesheet, 'utf8'), {
    loader: 'css',
    minify: true,
  });
  return code.trim();
}

/** Returns the texts in a folder, by the names of their files. */
function texts(folder, extension) {
  const files = readdirSync(folder).filter((file) => file.endsWith(extension));
  return Object.fromEntries(
    files.map((file) => [basename(file, extension), readFileSync(join(folder, file), 'utf8')]),
  );
}

/** Packs texts by name, for `src/base/built.ts`, into less than half their size. */
function packed(byName) {
  return JSON.stringify(brotliCompressSync(JSON.stringify(byName)).toString('base64'));
}

/** Returns the script for a project's pages, on one line. */
async function snippet(entryPoint, keepsCampaigns) {
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    define: { CAMPAIGNS: String(keepsCampaigns) },
    minify: true,
    write: false,
    target: 'es2020',
    tsconfigRaw: { compilerOptions: { alwaysStrict: false } }, // 13 bytes
  });
  return outputFiles[0].text.trim();
}

/**
 * Makes Node's single executable: a copy of the running Node with the bundle inside. Uses the way
 * that works since Node 20: CommonJS and postject.
 */
async function compile(executable) {
  const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js');
  const folder = mkdtempSync(join(tmpdir(), 'viewlog-build-'));
  const main = join(folder, 'viewlog.cjs');
  const blob = join(folder, 'viewlog.blob');
  const config = join(folder, 'sea.json');
  try {
    await build({ ...bundle, format: 'cjs', outfile: main });
    writeFileSync(
      config,
      JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true }),
    );
    execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' });
    rmSync(executable, { force: true }); // a running executable cannot be overwritten
    copyFileSync(process.execPath, executable);
    const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
    const inject = [postject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse];
    // Piped, because it warns about each of Node's sections that it does not know.
    execFileSync(process.execPath, inject, { stdio: 'pipe' });
    chmodSync(executable, 0o755);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
