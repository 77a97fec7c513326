import { printable } from '../base/text.ts';

// What a view's `url`, a path with what follows it, says of the page and of the campaign. The same
// for a string of bytes as for text.

/** `/a?b=c#d` is the page `/a`. */
export function withoutQuery(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}

const ESCAPES = /(?:%[0-9a-f]{2})+/gi;

/**
 * `/caf%C3%A9` as `/café`. Escapes that stand for delimiters stay, and so do those that would
 * become a control or a mark that reorders text.
 */
export const readable = (text: string, decode: (text: string) => string = decodeURI): string =>
  text.replace(ESCAPES, (escapes) => {
    try {
      const decoded = decode(escapes);
      return printable(decoded, Infinity) === decoded ? decoded : escapes;
    } catch {
      return escapes; // not of UTF-8
    }
  });

/** Of a parameter of a query, where a `+` is a space. */
export const readableParameter = (text: string): string =>
  readable(text.replaceAll('+', ' '), decodeURIComponent);

/** As they stand in the query; empty where absent. */
export interface CampaignTags {
  readonly campaign: string;
  readonly source: string;
  readonly medium: string;
}

/** The `utm_*` parameters of a view's `url`; `undefined` where it has none that name a campaign. */
export function campaignIn(url: string): CampaignTags | undefined {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('utm_', start)) return undefined;
  const [query] = url.slice(start).split('#', 1) as [string];
  const campaign = parameter(query, 'utm_campaign=');
  const source = parameter(query, 'utm_source=');
  const medium = parameter(query, 'utm_medium=');
  return campaign + source + medium === '' ? undefined : { campaign, source, medium };
}

/** @param name with its `=`. */
function parameter(query: string, name: string): string {
  for (let at = query.indexOf(name); at >= 0; at = query.indexOf(name, at + 1)) {
    if (query[at - 1] !== '?' && query[at - 1] !== '&') continue;
    const end = query.indexOf('&', at);
    return query.slice(at + name.length, end < 0 ? undefined : end);
  }
  return '';
}
