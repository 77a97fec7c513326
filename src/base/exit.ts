import { printable } from './text.ts';

/** Exit codes, after BSD's sysexits.h, so a service manager can distinguish causes. */
export const EXIT = {
  done: 0,
  usage: 64,
  badData: 65,
  unavailable: 69,
  cannotCreate: 73,
  ioError: 74,
  badConfiguration: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * Ends the command with a message on stderr and an exit code. For faults that only the operator can
 * fix; a fault that a client can cause is a `Refusal`, a value.
 */
export class Fatal extends Error {
  override readonly name = 'Fatal';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** EDQUOT on Node, Deno and Bun: only Bun names it, and only Deno describes it. */
const QUOTA =
  /^Unknown system error -122\b.*|^Disk quota exceeded \(os error 122\)$|^EDQUOT: unknown error.*/s;

/** Returns the `code` of a Node-style system error (`ENOENT`, `ENOSPC`, …), on every runtime. */
export function errnoOf(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof message === 'string' && QUOTA.test(message)) return 'EDQUOT';
  return typeof code === 'string' ? code : undefined;
}

const OCCUPIED = 'move that file away or choose another --data';
const WRITE_ADVICE: Readonly<Record<string, string>> = {
  EROFS: 'mount the file system read-write or choose another --data',
  EISDIR: 'move that directory away',
  EEXIST: OCCUPIED,
  ENOTDIR: 'a part of this path is a file; move that file away or choose another --data',
  ENOSPC: 'free some space, or delete files if df -i shows no free inodes',
  EDQUOT: 'delete files or raise the quota',
  EFBIG: 'raise the file size limit (ulimit -f, or LimitFSIZE= in a unit)',
};

/** Returns what to do if a file can't be written; `undefined` if the error says enough. */
export const writeAdvice = (error: unknown): string | undefined =>
  WRITE_ADVICE[errnoOf(error) ?? ''];

/**
 * Returns what `read` returns, or `otherwise` if `read` throws, for example because a file is
 * missing or Deno lacks a permission.
 */
export function orElse<T, O>(read: () => T, otherwise: O): T | O {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/**
 * Returns the message of an error, without a stack: `ENOSPC: no space left on device`, `permission
 * denied`. Leaves out the call and path of a system error, because viewlog's messages name both.
 */
export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (errnoOf(error) === undefined) return message;
  return message
    .replace(QUOTA, 'EDQUOT: disk quota exceeded')
    .replace(/^listen (E\w+: .*?)( [\d/[]\S*)?$/s, '$1')
    .replace(/, \w+( '.*')?$/s, '')
    .replace(/^EACCES: /, '');
}

/** Returns the error with its stack, in one line. */
export const stackText = (error: unknown): string =>
  ((error as Error | undefined)?.stack ?? String(error)).replaceAll(/\n\s*/g, ' | ');

/** Returns why a request had no answer, in one line. Node's fetch puts it in the error's cause. */
export function fetchFailure(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  if (errnoOf(cause) === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'the server speaks http, not https';
  // For a name with several addresses, the error has a code and one reason per address.
  return printable(errorText(cause) || (errnoOf(cause) ?? errorText(error)));
}
