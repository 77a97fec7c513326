import { createRequire } from 'node:module';
import { brotliDecompressSync } from 'node:zlib';
import type * as client from './client.ts';

export type Client = typeof client;

/** The bundled client: CommonJS, compressed by Brotli, as base64. Put here by build.mjs. */
declare const NATS_CLIENT: string;

let loaded: Client | undefined;

/**
 * The NATS client. Most collectors write files and never need it, so that it waits in the bundle
 * as a compressed text: it costs them neither start-up time nor memory to speak of.
 */
export async function loadClient(): Promise<Client> {
  return (loaded ??= typeof NATS_CLIENT === 'undefined' ? await import('./client.ts') : unpacked());
}

function unpacked(): Client {
  const code = brotliDecompressSync(Buffer.from(NATS_CLIENT, 'base64')).toString();
  const module = { exports: {} };
  // A function and not a file, for there is no file beside the bundle, nor a way to import one in
  // a single executable. It only asks for modules of the runtime's own.
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- our own code, from the build
  const run = new Function('module', 'exports', 'require', code);
  run(module, module.exports, createRequire('/'));
  return module.exports as Client;
}
