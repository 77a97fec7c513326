import { IncomingMessage } from 'node:http';
import type { HeaderName } from './exchange.ts';

/** Asked for by Node itself of each request, or of one of HTTP/1.0. */
type AskedByNode = 'host' | 'expect' | 'te';

type Few = Partial<Record<HeaderName | AskedByNode, string>>;

/** Whether what stands in more than one line is one list; else the first counts, as with Node. */
const IS_LIST: Readonly<Record<keyof Few, boolean>> = {
  'access-control-request-headers': true,
  'access-control-request-method': true,
  'content-encoding': true,
  'content-length': false,
  'content-type': false,
  expect: true,
  host: false,
  origin: true,
  te: true,
  'transfer-encoding': true,
};

const LENGTHS = new Set(Object.keys(IS_LIST).map(({ length }) => length));

class Request extends IncomingMessage {
  few: Few | undefined;
}

// In Node's types it is a field, which no accessor of a class can take the place of.
Object.defineProperty(Request.prototype, 'headers', {
  get(this: Request): Few {
    return (this.few ??= fewOf(this.rawHeaders));
  },
});

/**
 * A request with the few headers that are asked for. Node makes an object of all of them, of each
 * request: with a browser's 16 that costs a view 15 % of its CPU, and 17 % of all speed.
 */
export const FewHeaders: typeof IncomingMessage = Request;

/** @param raw names and values in turn. */
function fewOf(raw: readonly string[]): Few {
  const few: Few = {};
  for (let i = 0; i < raw.length; i += 2) {
    if (!LENGTHS.has(raw[i]!.length)) continue;
    const name = raw[i]!.toLowerCase() as keyof Few;
    const isList = IS_LIST[name];
    if (isList === undefined) continue;
    const before = few[name];
    if (before === undefined) few[name] = raw[i + 1]!;
    else if (isList) few[name] = `${before}, ${raw[i + 1]!}`;
  }
  return few;
}
