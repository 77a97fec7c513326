import { formatSize } from '../../base/format.ts';
import * as path from 'node:path';
import { type Address, urlOf } from '../../http/listener.ts';
import { SERVE_OPTIONS } from '../../serve.ts';
import { flagOf, OPTIONS } from '../../settings.ts';
import type { ServeSettings } from './read-installation.ts';

type Name = keyof ServeSettings;

/**
 * Returns the words of a command line that give a command these settings, without defaults. `store`
 * is left out: it may contain a password, and belongs in the environment.
 */
export function serveFlags(
  settings: ServeSettings,
  names: readonly Name[] = SERVE_OPTIONS,
): string[] {
  const isStream = settings.store !== undefined;
  return names.flatMap((name) => {
    const value = settings[name];
    if (value === undefined || name === 'store' || (isStream && name === 'data')) return [];
    const text = textOf(name, value);
    return text === defaultOf(name, settings) ? [] : [`--${flagOf(name)}`, text];
  });
}

function defaultOf(name: Name, { data, store }: ServeSettings): string | undefined {
  const { fallback, parse } = { fallback: undefined, ...OPTIONS[name] };
  if (typeof fallback === 'string') return textOf(name, parse(fallback));
  // The default projects file is in the data directory, which a stream store does not have.
  return store === undefined && fallback !== undefined ? path.resolve(fallback(data)) : undefined;
}

function textOf(name: Name, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return hostAndPort(value as Address);
  if (OPTIONS[name].value !== 'SIZE') return `${value}`;
  return formatSize(value).replace(' bytes', 'B').replace(' ', '');
}

/** `127.0.0.1:8080`, `[::1]:8080` */
export const hostAndPort = ({ host, port }: Address): string =>
  urlOf(host, port).replace('http://', '');
