// The status server's app: health, metrics and the service's pages, for clients that the guard
// accepts. It only reads, and a fault in it ends only the request.
import { type Context, Hono } from 'hono';
import { errorText, stackText } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { pathOf } from '../http/exchange.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { type Health, isReady } from './health.ts';
import { type Metric, metricsText } from './metrics.ts';

/** A service as the status server shows it: a collector or an archive. */
export interface Service {
  health(): Health;
  metrics(): readonly Metric[] | Promise<readonly Metric[]>;
  /** The pages for people, by path; `/` is one of them. */
  readonly pages: Readonly<Record<string, (context: Context) => Response | Promise<Response>>>;
}

/** Trusted types keep the page's script from making markup of text by mistake. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/** These keep a browser from doing anything with an answer except showing it. */
const HEADERS = Object.entries({
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
});
const CHALLENGE = 'Basic realm="viewlog", charset="UTF-8"';
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** For pages that send views to the wrong port. */
const NO_VIEWS = "This is the status server; views go to /view on viewlog's other port.\n";

export type Handler = (request: Request) => Response | Promise<Response>;

export function statusApp(
  service: Service,
  guarded: GuardOptions,
  log: Pick<Log, 'error'>,
): Handler {
  const guard = createGuard(guarded);
  const app = new Hono({
    // Without a Host (HTTP/1.0) or with an odd one, a request on Bun has a bare path for its URL.
    getPath: ({ url }) => pathOf(url),
  });
  app.use(async (context, next) => {
    const { req } = context;
    for (const [name, value] of HEADERS) context.header(name, value);
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      return context.text(`Only GET is allowed. ${NO_VIEWS}`, 405, { Allow: 'GET, HEAD' });
    }
    const verdict = guard(req.raw, req.path);
    if (typeof verdict === 'object') {
      if (verdict.refused === 401) context.header('WWW-Authenticate', CHALLENGE);
      return context.text(`${verdict.reason}\n`, verdict.refused);
    }
    return next();
  });
  app.get('/healthz', (context) => context.json({ status: 'alive' }));
  app.get('/readyz', (context) => {
    const health = service.health();
    const status = isReady(health) ? 'ready' : 'not ready';
    const why = guard(context.req.raw, context.req.path) === 'trusted' ? health : {};
    return context.json({ status, ...why }, isReady(health) ? 200 : 503);
  });
  app.get('/metrics', async (context) =>
    context.body(metricsText(await service.metrics()), 200, { 'Content-Type': METRICS_TYPE }),
  );
  for (const [path, page] of Object.entries(service.pages)) app.get(path, page);
  app.notFound((context) => context.text(`There is nothing here. ${NO_VIEWS}`, 404));
  let logged = '';
  app.onError((error, context) => {
    const reason = errorText(error);
    // Logs an error once, because an open page asks every two seconds.
    if (reason !== logged)
      log.error(
        `A request to the status server failed because of an error in viewlog; views aren't ` +
          `affected. Please report it: ${stackText(error)}`,
      );
    logged = reason;
    return context.text('The request failed; the log has the reason.\n', 500);
  });
  return (request) => app.fetch(request);
}
