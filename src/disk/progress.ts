import * as fs from 'node:fs';
import { cannotRead } from './lines.ts';

/** How far a command has come with its files, shown on a terminal and nowhere else. */
export interface Progress {
  add(bytes: number): void;
  /** Wipes it off the terminal. */
  end(): void;
}

const WIDTH = 30;
const REDRAW_MS = 100;

/**
 * A progress bar on stderr over all bytes of the files; nothing where stderr is no terminal.
 * @throws {Fatal} exit 74 for a file that is not there, before any of them is read.
 */
export function startProgress(paths: readonly string[]): Progress {
  const total = paths.reduce((sum, path) => sum + sizeOf(path), 0);
  if (!process.stderr.isTTY || total === 0) return { add: () => {}, end: () => {} };
  let done = 0;
  let drawnMs = Date.now();
  return {
    add(bytes) {
      done += bytes;
      const now = Date.now();
      if (now - drawnMs < REDRAW_MS) return;
      drawnMs = now;
      process.stderr.write(`\r${bar(Math.min(1, done / total))}`);
    },
    end: () => void process.stderr.write('\r\u001b[K'),
  };
}

function bar(part: number): string {
  const full = Math.floor(part * WIDTH);
  const percent = String(Math.floor(part * 100)).padStart(3);
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${percent} %`;
}

function sizeOf(path: string): number {
  if (path === '-') return 0;
  try {
    return fs.statSync(path).size;
  } catch (error) {
    throw cannotRead(path, error);
  }
}
