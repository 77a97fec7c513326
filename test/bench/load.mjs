// The full load: wrk on one thread. Each connection sends its next request once it has the answer.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { REQUEST } from './request.mjs';

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, 'send.lua');

/** About the number of connections that the pages of a busy site keep open. */
export const CONNECTIONS = 64;

/**
 * @param server a started subject.
 * @returns requests per second, p50 and p99 in microseconds, failed requests.
 */
export async function load({ name, port, dir }, seconds) {
  const file = join(dir, 'request');
  writeFileSync(file, REQUEST);
  const where = `http://127.0.0.1:${port}/view`;
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', SCRIPT, where, '--', file];
  const { stdout } = await run('wrk', args);
  const result = JSON.parse(/^RESULT (.*)$/m.exec(stdout)[1]);
  if (result.failed > 0) throw new Error(`${name}: ${result.failed} requests failed`);
  return { ...result, perSecond: result.requests / (result.microseconds / 1e6) };
}
