import { formatCount, formatSize, formatSizeOption, KiB, MiB, parseSize, TiB } from './format.ts';
import { PORT_MAX } from './limits.ts';
import { shellQuoted } from './text.ts';
import { isDay } from './time.ts';
import { parseUrl } from './url.ts';

// Parsers of options' values.

export interface Parser<T> {
  /** The expected text in words, for an error. */
  readonly expected: string;
  /** The words before `expected`, unless they are `must be`. */
  readonly verb?: string;
  /** A value, for an error. */
  readonly example: string;
  /** Returns the value of a text; `undefined` if it isn't as expected. */
  readonly read: (text: string) => T | undefined;
  /** Returns the value that was probably meant; a phrase if the fix takes more than one option. */
  readonly meant?: (text: string) => string | undefined;
  /** True: `expected` lists the values, so an error needs no example. */
  readonly isChoice?: true;
}

/** `. For example: --port 8080`, or `. For example: VIEWLOG_PORT=8080`; for a choice, nothing. */
export function exampleOf(
  source: string,
  { example, isChoice }: Pick<Parser<unknown>, 'example' | 'isChoice'>,
): string {
  if (isChoice) return '';
  // A word after a switch isn't the switch's value.
  const isApart = source.startsWith('--') && example !== yesOrNo.example;
  return `. For example: ${source}${isApart ? ' ' : '='}${shellQuoted(example)}`;
}

export const parser = <T>(
  expected: string,
  example: string,
  read: Parser<T>['read'],
  meant?: Parser<T>['meant'],
): Parser<T> => ({ expected, example, read, ...(meant && { meant }) });

export const matching = (
  pattern: RegExp,
  expected: string,
  example: string,
  verb = 'must be',
): Parser<string> => ({
  ...parser(expected, example, (value) => (pattern.test(value) ? value : undefined)),
  verb,
});

export const text = (expected: string, example: string) => matching(/./s, expected, example);

export const directory = text('the path of a directory', '/var/lib/viewlog');

export const file = (example: string) => text('the path of a file', example);

/** An address without a port; IPv6 with or without brackets. */
export const host = parser(
  'an address or a host name, without a port',
  '127.0.0.1',
  (value) => {
    const name = value.replace(/^\[(.+)\]$/, '$1');
    // An IPv6 address has at least two colons.
    return /^[^:]*:[^:]*$|[\s/[\]]|^$/.test(name) ? undefined : name;
  },
  (value) => {
    const shape = /^(?:https?:\/\/)?(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i;
    const [, name, port] = shape.exec(value) ?? [];
    return name && port ? `${name}, with --port ${port}` : name;
  },
);

export const whole = (
  min: number,
  max: number,
  example: number,
  format = formatCount,
): Parser<number> =>
  parser(`a whole number from ${format(min)} to ${format(max)}`, String(example), (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });

/** A whole number with its unit. */
export function size(min: number, max: number): Parser<number> {
  const [unit, example] = max < 64 * MiB ? ['KiB', '16KiB'] : ['MiB', '64MiB'];
  const read = (value: string): number | undefined => {
    const bytes = parseSize(value);
    return bytes >= min && bytes <= max ? bytes : undefined;
  };
  const range = `from ${formatSize(min)} to ${formatSize(max)}`;
  return parser(`a size with a unit, ${range}`, example, read, (value) => {
    const [, count, letter] = /^([1-9]\d*) ?(?:([kmgt])b?)?$/i.exec(value) ?? [];
    if (count === undefined) return undefined;
    if (letter === undefined && Number(count) >= 4 * KiB) return formatSizeOption(Number(count));
    const meant = letter ? [`${count}${letter.toUpperCase()}iB`] : [count + unit, `${count}B`];
    return meant.find((one) => read(one) !== undefined && parseSize(one) <= TiB);
  });
}

export const choice = <const T extends string>(...choices: [T, ...T[]]): Parser<T> => ({
  ...parser(choices.join(' or '), choices[0], (value) => choices.find((name) => name === value)),
  isChoice: true,
});

const HOST_AND_PORT = /^(?:\[([\da-f:.]+)\]|([^\s:/]+)):(\d{1,5})$/i;

/** `127.0.0.1:8081`, `[::1]:8081`; `off` for none. */
export const addressOrOff = parser('an address with a port, or off', '127.0.0.1:8081', (value) => {
  if (value === 'off') return value;
  const [, ipv6, name, port] = HOST_AND_PORT.exec(value) ?? [];
  const host = ipv6 ?? name;
  const isKnown = host !== undefined && Number(port) <= PORT_MAX;
  return isKnown ? { host, port: Number(port) } : undefined;
});

export const day = parser('a valid date (YYYY-MM-DD)', '2026-01-31', (value) =>
  isDay(value) ? value : undefined,
);

/**
 * Accepts `2026-01-31`; `today` and `yesterday` stay words, because they depend on the time zone.
 */
export const dayOrWord = parser(
  'a valid date (YYYY-MM-DD), today or yesterday',
  '2026-01-31',
  (value) => (/^(today|yesterday)$/.test(value) || isDay(value) ? value : undefined),
);

export const httpUrl = parser(
  'an http or https address without a path',
  'http://127.0.0.1:8080',
  (value) => {
    const isUrl = /^https?:\/\/[^\s/?#]+\/?$/i.test(value) && parseUrl(value) !== undefined;
    return isUrl ? value.replace(/\/$/, '') : undefined;
  },
);

/** Accepts a collector's address with or without `/view`, and adds `/view` if it is missing. */
export const viewUrl = parser(
  'an http or https address without a query',
  'https://views.example.com',
  (value) => {
    const url = /^https?:\/\/[^\s?#@\\]+$/i.test(value) ? parseUrl(value) : undefined;
    if (url === undefined) return undefined;
    const { origin, pathname } = url;
    return `${origin}${pathname.replace(/(\/view)?\/?$/, '')}/view`;
  },
);

export const yesOrNo = parser('yes or no', 'yes', (value) =>
  value === 'yes' || value === 'no' ? value === 'yes' : undefined,
);

export const timeZone = parser(
  'the name of a time zone',
  'Europe/Oslo',
  (value) => {
    try {
      const { timeZone: name } = new Intl.DateTimeFormat('en', {
        timeZone: value,
      }).resolvedOptions();
      // The runtimes rename some zones: Asia/Kathmandu to Asia/Katmandu.
      return name.toLowerCase() === value.toLowerCase() ? name : value;
    } catch {
      return undefined;
    }
  },
  (value) => {
    const city = `/${value.toLowerCase().replaceAll(' ', '_')}`;
    return Intl.supportedValuesOf('timeZone').find((name) => name.toLowerCase().endsWith(city));
  },
);
