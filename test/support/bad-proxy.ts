import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a proxy in front of viewlog does otherwise than it should. */
export interface ProxyFaults {
  /** Header fields of requests that it does not pass on. */
  readonly strips?: readonly string[];
  /** Header fields of answers that it adds. */
  readonly adds?: Readonly<Record<string, string>>;
  /** Larger bodies get its own 413. */
  readonly bodyBytesMax?: number;
  /** Passes so many bytes of a body on, and no more. */
  readonly cutsAfter?: number;
  /** Answers so on any path except `/view`. */
  readonly site?: { status: number; headers?: Record<string, string> };
  /** Where requests come to instead of the path they name. */
  readonly path?: string;
  /** Methods that it answers itself, or all: with that status, these headers and this text. */
  readonly answers?: {
    method?: string;
    status: number;
    headers?: Record<string, string>;
    text?: string;
  };
}

/** A server on any free port of loopback; gone when the test is over. */
export async function listening(server: http.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A reverse proxy with these faults; the address that pages would post to, without `/view`. */
export async function startProxy(target: string, faults: ProxyFaults): Promise<string> {
  const handler: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void pass(request, response, Buffer.concat(chunks), target, faults));
  };
  return `http://127.0.0.1:${await listening(http.createServer(handler))}`;
}

async function pass(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  body: Buffer,
  target: string,
  { strips = [], adds = {}, bodyBytesMax = Infinity, cutsAfter, site, path, answers }: ProxyFaults,
): Promise<void> {
  if (site !== undefined && request.url !== '/view') {
    response.writeHead(site.status, site.headers).end();
    return;
  }
  if (answers !== undefined && (answers.method ?? request.method) === request.method) {
    response.writeHead(answers.status, { Server: 'bad-proxy', ...answers.headers });
    response.end(answers.text ?? '');
    return;
  }
  if (body.length > bodyBytesMax) {
    response.writeHead(413, { Server: 'bad-proxy' }).end('<title>413 Too Large</title>');
    return;
  }
  const headers = Object.entries(request.headers).filter(
    ([name]) => ![...strips, 'host', 'connection', 'content-length'].includes(name),
  );
  const answer = await fetch(target + (path ?? request.url!), {
    method: request.method!,
    headers: headers as [string, string][],
    ...(body.length > 0 && { body: new Uint8Array(body.subarray(0, cutsAfter)) }),
  });
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...adds });
  response.end(await answer.text());
}
