import { formatSize } from './format.ts';
import { PORT_MAX } from './limits.ts';
import { MiB, parseSize, TiB } from './size.ts';
import { isDay } from './time.ts';

// How the text of an option's value is read.

/** The value that a text stands for, or what was expected instead. */
export type Parse<T> = (text: string) => T | Problem;

export class Problem {
  readonly expected: string;
  /** What was probably meant. */
  readonly hint: string | undefined;

  constructor(expected: string, hint?: string) {
    this.expected = expected;
    this.hint = hint;
  }
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

/** A whole number with its unit. */
export const size =
  (min: number, max: number): Parse<number> =>
  (value) => {
    const bytes = parseSize(value);
    if (bytes >= min && bytes <= max) return bytes;
    const [unit, example] = max < 64 * MiB ? ['KiB', '16KiB'] : ['MiB', '64MiB'];
    const fits = [unit, 'B'].find((one) => parseSize(value + one) <= Math.min(max, TiB));
    const isBare = /^[1-9]\d*$/.test(value) && fits !== undefined;
    return new Problem(
      `a size with its unit, from ${formatSize(min)} to ${formatSize(max)}, such as ${example}`,
      isBare ? `did you mean ${value}${fits}?` : undefined,
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

/** `2026-01-31`; `today` and `yesterday` stay words, because they depend on the time zone. */
export const dayOrWord: Parse<string> = (value) =>
  value === 'today' || value === 'yesterday' || isDay(value)
    ? value
    : new Problem('a day such as 2026-01-31, or today or yesterday');

export const httpUrl: Parse<string> = (value) =>
  /^https?:\/\/[^\s/?#]+\/?$/i.test(value) && URL.canParse(value)
    ? value.replace(/\/$/, '')
    : new Problem('an address such as http://127.0.0.1:8080');

/** A collector's address, with or without `/view`. The result has it. */
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
