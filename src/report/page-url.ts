import { printable } from '../base/text.ts';

// The page and the campaign in a view's `url`, which is a path with a query and a fragment.

/** Returns `/a` for `/a?b=c#d`. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*/s, '');

const ESCAPES = /(?:%[0-9a-f]{2})+/gi;

/**
 * Returns `/café` for `/caf%C3%A9`. Escapes of delimiters stay, and so do escapes of control
 * characters and of marks that reorder text.
 */
export const readable = (text: string, decode: (text: string) => string = decodeURI): string =>
  text.replace(ESCAPES, (escapes) => {
    try {
      const decoded = decode(escapes);
      return printable(decoded, Infinity) === decoded ? decoded : escapes;
    } catch {
      return escapes; // not UTF-8
    }
  });

/** Decodes a parameter of a query, in which a `+` is a space. */
export const readableParameter = (text: string): string =>
  readable(text.replaceAll('+', ' '), decodeURIComponent);

const CAMPAIGN = ['utm_campaign=', 'utm_source=', 'utm_medium='];

/**
 * Returns the campaign, source and medium in a view's `url`, joined by `&`; `undefined` if it has
 * none of these parameters, or all are empty.
 */
export function campaignIn(url: string): string | undefined {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('utm_', start)) return undefined;
  const [query = ''] = url.slice(start + 1).split('#', 1);
  const parameters = query.split('&');
  const values = CAMPAIGN.map(
    (name) => parameters.find((text) => text.startsWith(name))?.slice(name.length) ?? '',
  );
  const campaign = values.join('&');
  return campaign === '&&' ? undefined : campaign;
}
