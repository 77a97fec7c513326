export { isUtf8 } from 'node:buffer';

/** A text with a character for each byte, U+0000 to U+00FF. */
export const bytewise = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');

/** What the bytes are in UTF-8. */
export const textOfBytewise = (text: string): string => Buffer.from(text, 'latin1').toString();
