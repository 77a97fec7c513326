import { fstatSync } from 'node:fs';
import { readEnv } from './env.ts';
import { tell } from './output.ts';

/** One line an event. Pass strangers' text through `printable` first. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export type LogFormat = 'text' | 'json';
type Level = keyof Log;

/** Where lines go, and what they are made of. */
interface LogParts {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly now: () => number;
  /** Whether systemd's journal reads this file descriptor. */
  readonly isJournal: (fd: number) => boolean;
}

/** Priorities of syslog, which the journal takes from the start of a line: `<4>…`. */
const PRIORITIES: Record<Level, number> = { info: 6, warn: 4, error: 3 };
const PREFIXES: Record<Level, string> = { info: '', warn: 'warning: ', error: 'error: ' };

/**
 * Events to stdout, what needs the operator's attention to stderr. As text they carry no time: the
 * journal and container runtimes add theirs. As JSON they do, as `{"time","level","message"}`.
 */
export function createLog(format: LogFormat, parts: LogParts = PROCESS): Log {
  const { out, err, now, isJournal } = parts;
  const write = (level: Level): ((message: string) => void) => {
    const [print, fd] = level === 'info' ? [out, 1] : [err, 2];
    if (format === 'json') {
      return (message) => {
        print(JSON.stringify({ time: new Date(now()).toISOString(), level, message }));
      };
    }
    const prefix = isJournal(fd) ? `<${PRIORITIES[level]}>` : PREFIXES[level];
    return (message) => print(prefix + message);
  };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

const PROCESS: LogParts = {
  out: (line) => tell(1, line),
  err: (line) => tell(2, line),
  now: Date.now,
  isJournal,
};

/** systemd names the file that it reads, so that a program knows whether it writes there. */
function isJournal(fd: number): boolean {
  const named = readEnv('JOURNAL_STREAM');
  if (!named) return false;
  try {
    const { dev, ino } = fstatSync(fd);
    return named === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
