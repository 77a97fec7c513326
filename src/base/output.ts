import * as fs from 'node:fs';
import { errnoOf, EXIT, Fatal, reasonOf } from './exit.ts';

// Everything that a command puts out goes through here, past `console` and `process.stdout`: those
// hide a full disk, and on Node end in a stack trace where nobody reads a pipe any more.

/** Nobody reads the output any more. The command ends, and nobody is left to be told why. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

const STDOUT = 1;
const STDERR = 2;
/** How often a pipe that is full, and does not block, is looked at. */
const RETRY_MS = 5;
/** A service does not stand still for one who stops reading its log. */
const TELL_MS_MAX = 100;

/**
 * Prints a text, and a newline after it, on stdout.
 * @throws {Fatal} exit 74 where it cannot be written: a full disk.
 * @throws {OutputClosed}
 */
export function print(text: string): void {
  try {
    writeAll(STDOUT, `${text}\n`, Infinity);
  } catch (error) {
    throw notWritten('stdout', error);
  }
}

/** What helps with what was printed: on stderr, so that it is not in the file that stdout goes to. */
export const note = (text: string): void => tell(STDERR, text);

/** Writes a line of a log. A line that cannot be written is lost: a service outlives its log. */
export function tell(fd: 1 | 2, line: string): void {
  try {
    writeAll(fd, `${line}\n`, TELL_MS_MAX);
  } catch {
    // There is nowhere to say so.
  }
}

/**
 * Writes a text to a file, or whatever stands at the path, in the place of what it holds.
 * @throws {Fatal} exit 73 where it cannot be made or opened, 74 where it cannot be written.
 * @throws {OutputClosed}
 */
export function writeFile(path: string, text: string): void {
  let fd: number;
  try {
    fd = fs.openSync(path, 'w');
  } catch (error) {
    throw new Fatal(EXIT.cannotCreate, `Cannot write "${path}": ${reasonOf(error)}`);
  }
  try {
    writeAll(fd, text, Infinity);
    fs.closeSync(fd);
  } catch (error) {
    throw notWritten(`"${path}"`, error);
  }
}

function notWritten(what: string, error: unknown): Error {
  // Older Denos give a system error no code.
  const isPipe = errnoOf(error) === 'EPIPE' || (error as Error).name === 'BrokenPipe';
  if (isPipe) return new OutputClosed();
  return new Fatal(EXIT.ioError, `Cannot write to ${what}: ${reasonOf(error)}`);
}

/** @param waitMsMax how long it waits for one who reads slowly. */
function writeAll(fd: number, text: string, waitMsMax: number): void {
  const bytes = Buffer.from(text);
  let written = 0;
  let waitedMs = 0;
  while (written < bytes.length) {
    try {
      written += fs.writeSync(fd, bytes, written);
    } catch (error) {
      // A pipe that somebody made non-blocking, as Node does with its own stdout, is full.
      if (errnoOf(error) !== 'EAGAIN' || waitedMs >= waitMsMax) throw error;
      waitedMs += RETRY_MS;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
