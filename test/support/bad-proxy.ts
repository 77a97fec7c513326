import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Faults of a proxy in front of viewlog. */
export interface ProxyFaults {
  /** Header fields that it removes from requests. */
  readonly strips?: readonly string[];
  /** Larger bodies get the proxy's own 413. */
  readonly bodyBytesMax?: number;
  /** Replaces the path of requests. */
  readonly path?: string;
  /** The proxy's own answer to each request. */
  readonly answers?: { status: number; headers: Record<string, string> };
}

/** Listens on any free port of loopback until the test is over; returns the port. */
export async function listening(server: http.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a reverse proxy with these faults; returns its address, without `/view`. */
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
  { strips = [], bodyBytesMax = Infinity, path, answers }: ProxyFaults,
): Promise<void> {
  if (answers !== undefined) {
    response.writeHead(answers.status, { Server: 'bad-proxy', ...answers.headers }).end();
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
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(await answer.text());
}
