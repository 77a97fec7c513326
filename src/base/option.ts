import { formatSize } from './format.ts';
import { PORT_MAX } from './limits.ts';
import { MiB, parseSize, TiB } from './size.ts';
import { isDay } from './time.ts';

// Parsers of options' values.

/** Returns the value of a text, or what was expected instead. */
export type Parse<T> = (text: string) => T | Problem;

export class Problem {
  readonly expected: string;
  /** The value that was probably meant. */
  readonly hint: string | undefined;

  constructor(expected: string, hint?: string) {
    this.expected = expected;
    this.hint = hint;
  }
}

/** Returns a parser. `read` returns `undefined` if the text is not as expected. */
export const parser =
  <T>(expected: string, read: (text: string) => T | undefined): Parse<T> =>
  (value) =>
    read(value) ?? new Problem(expected);

export const text = parser('some text', (value) => value || undefined);

export const whole = (min: number, max: number): Parse<number> =>
  parser(`a whole number from ${min} to ${max}`, (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });

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

export const choice = <const T extends string>(...choices: T[]): Parse<T> =>
  parser(choices.join(' or '), (value) => choices.find((name) => name === value));

const HOST_AND_PORT = /^(?:\[([\da-f:.]+)\]|([^\s:/]+)):(\d{1,5})$/i;

/** `127.0.0.1:8081`, `[::1]:8081`; `off` for none. */
export const addressOrOff = parser(
  'an address and a port, such as 127.0.0.1:8081, or off',
  (value) => {
    if (value === 'off') return value;
    const [, ipv6, name, port] = HOST_AND_PORT.exec(value) ?? [];
    const host = ipv6 ?? name;
    const isKnown = host !== undefined && Number(port) <= PORT_MAX;
    return isKnown ? { host, port: Number(port) } : undefined;
  },
);

const DAY_WORDS = new Set(['today', 'yesterday']);

/**
 * Accepts `2026-01-31`; `today` and `yesterday` stay words, because they depend on the time zone.
 */
export const dayOrWord = parser('a day such as 2026-01-31, or today or yesterday', (value) =>
  DAY_WORDS.has(value) || isDay(value) ? value : undefined,
);

export const httpUrl = parser('an address such as http://127.0.0.1:8080', (value) => {
  const isUrl = /^https?:\/\/[^\s/?#]+\/?$/i.test(value) && URL.canParse(value);
  return isUrl ? value.replace(/\/$/, '') : undefined;
});

/** Accepts a collector's address with or without `/view`, and adds `/view` if it is missing. */
export const viewUrl = parser('an address such as https://views.example.com', (value) => {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(value) || !URL.canParse(value)) return undefined;
  const { origin, pathname } = new URL(value);
  return `${origin}${pathname.replace(/(\/view)?\/?$/, '')}/view`;
});

export const yesOrNo = parser('yes or no', (value) =>
  value === 'yes' || value === 'no' ? value === 'yes' : undefined,
);

export const timeZone = parser('a time zone such as Europe/Oslo or UTC', (value) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
});
