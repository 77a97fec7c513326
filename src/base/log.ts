import { fstatSync } from 'node:fs';
import { readEnv } from './env.ts';
import { orElse } from './exit.ts';
import { writeLine } from './output.ts';

export type LogFormat = 'text' | 'json';
type Level = 'info' | 'warn' | 'error';

/** One line per event. Pass untrusted text through `printable` first. */
export type Log = Readonly<Record<Level, (message: string) => void>>;

/** Priorities of syslog, which the journal reads from the start of a line: `<4>…`. */
const PRIORITIES: Record<Level, number> = { info: 6, warn: 4, error: 3 };
const PREFIXES: Record<Level, string> = { info: '', warn: 'warning: ', error: 'error: ' };

/**
 * Creates a log. Information goes to stdout, warnings and errors to stderr. Lines of text have no
 * time, because the journal and container runtimes add theirs; lines of JSON do:
 * `{"time","level","message"}`.
 */
export function createLog(format: LogFormat, parts = { writeLine, now: Date.now, isJournal }): Log {
  const write = (level: Level): ((message: string) => void) => {
    const fd = level === 'info' ? 1 : 2;
    const priority = parts.isJournal(fd) ? `<${PRIORITIES[level]}>` : '';
    const prefix = priority + PREFIXES[level];
    return (message) => {
      const time = new Date(parts.now()).toISOString();
      const isText = format === 'text';
      parts.writeLine(fd, isText ? prefix + message : JSON.stringify({ time, level, message }));
    };
  };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

/** Returns whether this output goes to the journal: to the file that systemd names. */
function isJournal(fd: number): boolean {
  const named = readEnv('JOURNAL_STREAM');
  if (!named) return false;
  const found = orElse(() => fstatSync(fd), undefined);
  return named === `${found?.dev}:${found?.ino}`;
}
