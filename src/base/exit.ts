/** Exit codes, after BSD's sysexits.h, so that a service manager can tell them apart. */
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
 * Ends the command with one message on stderr and an exit code. For what only the operator can
 * mend; what a client can cause is a `Refusal`, a value.
 */
export class Fatal extends Error {
  override readonly name = 'Fatal';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The `code` of a Node-style system error (`ENOENT`, `ENOSPC`, …), on every runtime. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** What a system error says, without a stack: `ENOSPC: no space left on device, write`. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
