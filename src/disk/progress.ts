import * as fs from 'node:fs';
import { cannotRead } from './lines.ts';

/** How far a command has read its files. */
export interface Progress {
  add(bytes: number): void;
  /** Removes the bar from the terminal. */
  end(): void;
}

const WIDTH = 30;
const REDRAW_MS = 100;

/**
 * Shows a progress bar over the bytes of all files on stderr, if that is a terminal.
 * @throws {Fatal} exit 74 if a file is missing.
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
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${percent}%`;
}

function sizeOf(path: string): number {
  if (path === '-') return 0;
  try {
    return fs.statSync(path).size;
  } catch (error) {
    throw cannotRead(path, error);
  }
}
