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
 * @param compressed names and texts in turn, with a NUL between them, in Brotli and base 91.
 */
function decompressed(compressed: string): Readonly<Record<string, string>> {
  const parts = brotliDecompressSync(ofBase91(compressed)).toString().split('\0');
  return Object.fromEntries(
    parts.flatMap((name, i) => (i % 2 === 0 ? [[name, parts[i + 1]!]] : [])),
  );
}

/** Returns the bytes of a text that `build.mjs` encoded. */
function ofBase91(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length * 13) / 16);
  const digitAt = (i: number): number => {
    const code = text.charCodeAt(i);
    return code < BACKSLASH ? code - FIRST_DIGIT : code - FIRST_DIGIT - 1;
  };
  let [bits, count, length] = [0, 0, 0];
  for (let i = 0; i < text.length; i += 2) {
    bits |= (digitAt(i) + 91 * digitAt(i + 1)) << count;
    for (count += 13; count >= 8; count -= 8) {
      bytes[length++] = bits & 0xff;
      bits >>= 8;
    }
  }
  return bytes;
}

const [FIRST_DIGIT, BACKSLASH] = [35, 92];

/** Returns the licences of everything in this program that others wrote. */
export const licences = (): string => decompressed(LICENCES)['text']!;
