import { formatSize } from './format.ts';
import { PORT_MAX } from './limits.ts';
import { MiB, parseSize } from './size.ts';
import { isDay } from './time.ts';

// What an option of the command line is, and how the text of its value is read.

/** The value that a text stands for, or what was expected instead. */
export type Parse<T> = (text: string) => T | Problem;

export class Problem {
  readonly expected: string;
  constructor(expected: string) {
    this.expected = expected;
  }
}

export interface Option {
  /** What stands for its value in the help; empty for a switch, which has none. */
  readonly value: string;
  readonly help: string;
  readonly parse: Parse<unknown>;
  /** Its value where none is given, as a text; it may depend on the directory of `--data`. */
  readonly fallback?: string | ((data: string) => string);
  /** Whether each of several is taken, not the last only. */
  readonly isList?: true;
  /** What is typed after `--`, where that is not its name: commands may each have a `--to`. */
  readonly flag?: string;
  /** Whether the value may hold a password, and is not to be repeated. */
  readonly isSecret?: true;
}

export const text: Parse<string> = (value) => (value === '' ? new Problem('some text') : value);

export const whole =
  (min: number, max: number): Parse<number> =>
  (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max
      ? number
      : new Problem(`a whole number from ${min} to ${max}`);
  };

/** Bytes, or a whole number with KiB, MiB, GiB or TiB. */
export const size =
  (min: number, max: number): Parse<number> =>
  (value) => {
    const bytes = parseSize(value);
    return bytes >= min && bytes <= max
      ? bytes
      : new Problem(
          `a size from ${formatSize(min)} to ${formatSize(max)}, such as ` +
            (max < 64 * MiB ? '16KiB or 512KiB' : '512KiB or 64MiB'),
        );
  };

export const choice =
  <const T extends string>(...choices: T[]): Parse<T> =>
  (value) =>
    choices.find((name) => name === value) ?? new Problem(choices.join(' or '));

/** `127.0.0.1:8081`, `[::1]:8081`; `off` for none. */
export const addressOrOff: Parse<'off' | { readonly host: string; readonly port: number }> = (
  value,
) => {
  if (value === 'off') return value;
  const [, ipv6, name, port] = /^(?:\[([\da-f:.]+)\]|([^\s:/]+)):(\d{1,5})$/i.exec(value) ?? [];
  const host = ipv6 ?? name;
  if (host === undefined || Number(port) > PORT_MAX) {
    return new Problem('an address and a port, such as 127.0.0.1:8081, or off');
  }
  return { host, port: Number(port) };
};

/** `2026-01-31`; `today` and `yesterday` as they stand, for they are those of a time zone. */
export const dayOrWord: Parse<string> = (value) =>
  value === 'today' || value === 'yesterday' || isDay(value)
    ? value
    : new Problem('a day such as 2026-01-31, or today or yesterday');

export const httpUrl: Parse<string> = (value) =>
  /^https?:\/\/[^\s/?#]+\/?$/i.test(value) && URL.canParse(value)
    ? value.replace(/\/$/, '')
    : new Problem('an address such as http://127.0.0.1:8080');

/** A collector's address, with or without `/view`; with it in the result. */
export const viewUrl: Parse<string> = (value) => {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(value) || !URL.canParse(value)) {
    return new Problem('an address such as https://views.example.com');
  }
  const { origin, pathname } = new URL(value);
  return `${origin}${pathname.replace(/(\/view)?\/?$/, '')}/view`;
};

export const yesOrNo: Parse<boolean> = (value) =>
  ['yes', 'no'].includes(value) ? value === 'yes' : new Problem('yes or no');

export const timeZone: Parse<string> = (value) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return new Problem('a time zone such as Europe/Oslo or UTC');
  }
};
