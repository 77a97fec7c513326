import * as fs from 'node:fs';
import { errnoOf, EXIT, Fatal, errorText } from './exit.ts';

// Commands print through these functions, not through `console` or `process.stdout`: those hide a
// full disk and, on Node, end with a stack trace once a pipe's reader is gone.

/** The reader of the output is gone. The command ends without a message. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

/** The wait between two attempts to write to a full pipe that doesn't block. */
const RETRY_MS = 5;
/** A service waits at most this long for a reader of its log. */
const LOG_WAIT_MS_MAX = 100;

/**
 * Prints a text and a newline on stdout.
 * @throws {Fatal} exit 74 if it can't be written: a full disk.
 * @throws {OutputClosed}
 */
export function print(text: string): void {
  try {
    writeToPipe(1, `${text}\n`, Infinity);
  } catch (error) {
    throw notWritten('stdout', error);
  }
}

/** Prints a hint about the output on stderr, so that a redirected stdout doesn't contain it. */
export const note = (text: string): void => writeLine(2, text);

/** Writes a line of a log. A line that can't be written is lost: a service outlives its log. */
export function writeLine(fd: 1 | 2, line: string): void {
  try {
    writeToPipe(fd, `${line}\n`, LOG_WAIT_MS_MAX);
  } catch {
    // The error can't be reported anywhere.
  }
}

/**
 * Replaces the text of a file or writes to a device or pipe at the path.
 * @param onStdout the option that prints the text instead.
 * @throws {Fatal} exit 73 if it can't be created or opened, 74 if it can't be written.
 * @throws {OutputClosed}
 */
export function writeFile(path: string, text: string, onStdout: string): void {
  try {
    fs.writeFileSync(path, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== 'open') throw notWritten(`"${path}"`, error);
    // The shell may run as a different user from the command: `sudo -u viewlog viewlog … > FILE`.
    const fix = `choose a directory of your own, or let your shell write it: ${onStdout} > FILE`;
    const causes: Readonly<Record<string, string>> = {
      EACCES: `this user isn't allowed to write there; ${fix}`,
      EISDIR: 'it is a directory; give the name of a file',
      ENOENT: "its directory doesn't exist; create it or choose another",
    };
    const cause = causes[errnoOf(error) ?? ''] ?? errorText(error);
    throw new Fatal(EXIT.cannotCreate, `Can't write "${path}": ${cause}`);
  }
}

function notWritten(what: string, error: unknown): Error {
  if (errnoOf(error) === 'EPIPE') return new OutputClosed();
  return new Fatal(EXIT.ioError, `Can't write to ${what}: ${errorText(error)}`);
}

/** @param waitMsMax how long to wait for a slow reader. */
function writeToPipe(fd: number, text: string, waitMsMax: number): void {
  const bytes = Buffer.from(text);
  let written = 0;
  let waitedMs = 0;
  while (written < bytes.length) {
    try {
      written += fs.writeSync(fd, bytes, written);
    } catch (error) {
      // The pipe is full, and another program has made it non-blocking, as Node does with its own
      // stdout.
      if (errnoOf(error) !== 'EAGAIN' || waitedMs >= waitMsMax) throw error;
      waitedMs += RETRY_MS;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
