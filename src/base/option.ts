import { formatSize, MiB, parseSize, TiB } from './format.ts';
import { PORT_MAX } from './limits.ts';
import { isDay } from './time.ts';

// Parsers of options' values.

export interface Parser<T> {
  /** The expected text in words, for an error. */
  readonly expected: string;
  /** Returns the value of a text; `undefined` if it isn't as expected. */
  readonly read: (text: string) => T | undefined;
  /** Returns the text that was probably meant. */
  readonly meant?: (text: string) => string | undefined;
}

export const parser = <T>(
  expected: string,
  read: Parser<T>['read'],
  meant?: Parser<T>['meant'],
): Parser<T> => ({ expected, read, ...(meant && { meant }) });

export const matching = (pattern: RegExp, expected: string): Parser<string> =>
  parser(expected, (value) => (pattern.test(value) ? value : undefined));

export const text = matching(/./s, 'some text');

/** An address without a port; IPv6 with or without brackets. */
export const host = parser('an address', (value) => value.replace(/^\[(.+)\]$/, '$1') || undefined);

export const whole = (min: number, max: number): Parser<number> =>
  parser(`a whole number from ${min} to ${max}`, (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });

/** A whole number with its unit. */
export function size(min: number, max: number): Parser<number> {
  const [unit, example] = max < 64 * MiB ? ['KiB', '16KiB'] : ['MiB', '64MiB'];
  return parser(
    `a size with a unit, such as ${example}, from ${formatSize(min)} to ${formatSize(max)}`,
    (value) => {
      const bytes = parseSize(value);
      return bytes >= min && bytes <= max ? bytes : undefined;
    },
    (value) => {
      if (!/^[1-9]\d*$/.test(value)) return undefined;
      const meant = [value + unit, `${value}B`];
      return meant.find((one) => parseSize(one) <= Math.min(max, TiB));
    },
  );
}

export const choice = <const T extends string>(...choices: T[]): Parser<T> =>
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

export const day = parser('a day such as 2026-01-31', (value) =>
  isDay(value) ? value : undefined,
);

/**
 * Accepts `2026-01-31`; `today` and `yesterday` stay words, because they depend on the time zone.
 */
export const dayOrWord = parser('a day such as 2026-01-31, or today or yesterday', (value) =>
  /^(today|yesterday)$/.test(value) || isDay(value) ? value : undefined,
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
    const { timeZone: name } = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions();
    // The runtimes rename some zones: Asia/Kathmandu to Asia/Katmandu.
    return name.toLowerCase() === value.toLowerCase() ? name : value;
  } catch {
    return undefined;
  }
});
