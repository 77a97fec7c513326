import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts a way to a real NATS server. The server seems to say nothing until `open` is called. */
export async function startNatsProxy(port: number) {
  const sockets: Socket[] = [];
  const waiting: Socket[] = [];
  let isOpen = false;
  const join = (client: Socket): void => {
    const upstream = connect(port, '127.0.0.1');
    sockets.push(upstream);
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  };
  const server = createServer((client) => {
    sockets.push(client.on('error', () => {}));
    if (isOpen) join(client);
    else waiting.push(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address() as { port: number };
  return {
    /** For `--store`. */
    url: `nats://127.0.0.1:${address.port}`,
    hasClient: () => sockets.length > 0,
    open(): void {
      isOpen = true;
      for (const client of waiting.splice(0)) join(client);
    },
  };
}
