// The values that build.mjs puts into the bundle.
import { brotliDecompressSync } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };

/** The commit that is built; empty outside a git checkout. */
declare const COMMIT: string;
declare const LICENCES: string;
declare const TEXTS: string;

export const VERSION = packageJson.version;

const commit = typeof COMMIT === 'undefined' ? '' : COMMIT;

/** `0.1.0 (4d80159)` */
export const BUILD = commit === '' ? VERSION : `${VERSION} (${commit})`;

let texts: Readonly<Record<string, string>> | undefined;

/** Returns the texts of the manual, pages and printed files by file name; outside a build, none. */
export const builtTexts = () => (texts ??= typeof TEXTS === 'undefined' ? {} : decompressed(TEXTS));

/**
 * Returns texts by name.
 * @param compressed names and texts in turn, with a NUL between them, in Brotli and base64.
 */
function decompressed(compressed: string): Readonly<Record<string, string>> {
  const parts = brotliDecompressSync(Buffer.from(compressed, 'base64')).toString().split('\0');
  return Object.fromEntries(
    parts.flatMap((name, i) => (i % 2 === 0 ? [[name, parts[i + 1]!]] : [])),
  );
}

/** Returns the licences of everything in this program that others wrote. */
export const licences = (): string => decompressed(LICENCES)['text']!;
