// The load: wrk, one thread.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, 'view.lua');

/**
 * @param spelling `spaced`: the view's JSON with spaces, as JSON.stringify does not write it.
 * @returns requests a second, p50 and p99 in microseconds, failed requests.
 */
export async function load(port, connections, seconds, spelling = 'plain') {
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '-s',
    SCRIPT,
    `http://127.0.0.1:${port}/view`,
    '--',
    spelling,
  ]);
  const result = JSON.parse(/^RESULT (.*)$/m.exec(stdout)[1]);
  return { ...result, perSecond: result.requests / (result.microseconds / 1e6) };
}
