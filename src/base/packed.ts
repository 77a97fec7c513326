import { brotliDecompressSync } from 'node:zlib';

/**
 * Texts by name that build.mjs put into the bundle.
 * @param packed their JSON, in Brotli and base64.
 */
export const unpacked = (packed: string): Readonly<Record<string, string>> =>
  JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString()) as Record<
    string,
    string
  >;
