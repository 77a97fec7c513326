import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export interface Child {
  readonly pid: number;
  /** Resolves with the next line of stdout, as JSON; rejects with stderr if the child ends first. */
  next(): Promise<Record<string, unknown>>;
  /** Returns its stderr so far. */
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
}

/** Starts a program that prints lines of JSON, and kills it when the test is over. */
export function startChild(
  [program, ...args]: readonly [string, ...string[]],
  cwd?: string,
): Child {
  const child: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    pid: child.pid!,
    async next() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${program} ended without a word: ${stderr}`);
      return JSON.parse(value) as Record<string, unknown>;
    },
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
    ended,
  };
}
