import { IncomingMessage } from 'node:http';

/**
 * The headers that a collector or Node itself asks for. True: several headers of that name are
 * joined into one list. False: only the first one counts, as in Node.
 */
const IS_LIST = {
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
  'viewlog-replay': true,
};

export type HeaderName = keyof typeof IS_LIST;
type Few = Partial<Record<HeaderName, string>>;

const LENGTHS = new Set(Object.keys(IS_LIST).map(({ length }) => length));

class Request extends IncomingMessage {
  few: Few | undefined;
}

// Defined here because Node's types declare a field, which a class can't override with an accessor.
Object.defineProperty(Request.prototype, 'headers', {
  get(this: Request): Few {
    return (this.few ??= fewOf(this.rawHeaders));
  },
});

/**
 * A request that reads only the headers in use. For every request, Node makes an object of all
 * headers: with a browser's 16 headers, that costs 15% of a view's CPU time and 17% of throughput.
 */
export const FewHeaders: typeof IncomingMessage = Request;

/** @param raw names and values, alternating. */
function fewOf(raw: readonly string[]): Few {
  const few: Few = {};
  for (let i = 0; i < raw.length; i += 2) {
    if (!LENGTHS.has(raw[i]!.length)) continue;
    const name = raw[i]!.toLowerCase() as HeaderName;
    const isList = IS_LIST[name] as boolean | undefined;
    if (isList === undefined) continue;
    const before = few[name];
    if (before === undefined) few[name] = raw[i + 1]!;
    else if (isList) few[name] = `${before}, ${raw[i + 1]!}`;
  }
  return few;
}
