export { isUtf8 } from 'node:buffer';

/** A text with a character for each byte, U+0000 to U+00FF. */
export const bytewise = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
