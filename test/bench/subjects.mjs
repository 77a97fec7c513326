// The servers to measure: each starts on a port of its own, in a directory of its own.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { FLUENT_BIT } from './fluent-bit.mjs';
import { NGINX } from './nginx.mjs';
import { STREAM } from './stream.mjs';
import { bare, BUN, DENO, NODE, viewlog } from './viewlog.mjs';

/**
 * @typedef {{
 *   name: string,
 *   missing?: string,
 *   stopSignal?: string,
 *   command(port: number, dir: string): string[],
 *   batches?(port: number): Promise<{ lines: number, batches: number }>,
 *   companions?(port: number, dir: string): string[][],
 *   ready?(port: number): Promise<void>,
 * }} Subject `companions` are started first, and not measured.
 */

/** Another build to measure beside this one: the path of its bundle. */
const BASE = process.env.BENCH_BASE && resolve(process.env.BENCH_BASE);
if (BASE && !existsSync(BASE)) throw new Error(`BENCH_BASE: there is no ${BASE}`);

/** This build on a runtime, and the other one. */
const disk = (key, name, runtime) => ({
  [key]: viewlog(name, runtime),
  ...(BASE && { [`${key}Base`]: viewlog(`${name}, the other build`, runtime, { bundle: BASE }) }),
});

/** @type {Record<string, Subject>} */
export const SUBJECTS = {
  nodeBare: bare('bare node:http', NODE, 'bare-node.mjs'),
  nginx: NGINX,
  ...disk('nodeDisk', 'Node, disk', NODE),
  nodeOs: viewlog('Node, os', NODE, { flags: ['--durability', 'os'] }),
  denoBare: bare('bare Deno.serve', DENO, 'bare-deno.mjs'),
  ...disk('denoDisk', 'Deno, disk', DENO),
  bunBare: bare('bare Bun.serve', BUN, 'bare-bun.mjs'),
  ...disk('bunDisk', 'Bun, disk', BUN),
  nodeStream: STREAM,
  fluentBit: FLUENT_BIT,
};
