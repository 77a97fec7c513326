import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A way to a real NATS server that can be closed, or kept from telling what is acknowledged. */
export interface NatsProxy {
  /** For `--store`. */
  readonly url: string;
  /** Connections that have been accepted. */
  readonly connections: number;
  /** Whether bytes pass; what comes meanwhile waits. A server that says nothing, while not. */
  isOpen: boolean;
  /** Whether acknowledgements of what is published are left out; everything else passes. */
  dropsAcknowledgements: boolean;
}

export async function startNatsProxy(port: number): Promise<NatsProxy> {
  const sockets: Socket[] = [];
  const waiting: (() => void)[] = [];
  let isOpen = true;
  const server = createServer((client) => {
    proxy.connections += 1;
    const join = (): void => {
      const upstream = connect(port, '127.0.0.1');
      sockets.push(upstream);
      for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
      client.pipe(upstream);
      const forward = filtered(
        (frame) => client.write(frame),
        () => proxy.dropsAcknowledgements,
      );
      upstream.on('data', forward).on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
    };
    sockets.push(client);
    client.on('error', () => {});
    if (isOpen) join();
    else waiting.push(join);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port: own } = server.address() as { port: number };
  const proxy = {
    url: `nats://127.0.0.1:${own}`,
    connections: 0,
    dropsAcknowledgements: false,
    get isOpen() {
      return isOpen;
    },
    set isOpen(open: boolean) {
      isOpen = open;
      if (open) for (const join of waiting.splice(0)) join();
    },
  };
  return proxy;
}

const ACKNOWLEDGEMENT = /^\{"stream":"\w+", ?"seq":\d+/;

/** Passes on what a server sends, frame by frame, but for acknowledgements while these are dropped. */
function filtered(send: (frame: Buffer) => void, drops: () => boolean): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const end = rest.indexOf('\r\n') + 2;
      if (end < 2) return;
      const line = rest.subarray(0, end).toString('latin1');
      // `MSG subject sid [reply] bytes`; anything else is one line.
      const payloadBytes = /^H?MSG /.test(line) ? Number(/(\d+)\r\n$/.exec(line)![1]) + 2 : 0;
      if (rest.length < end + payloadBytes) return;
      const payload = rest.subarray(end, end + payloadBytes).toString('latin1');
      if (!drops() || !ACKNOWLEDGEMENT.test(payload)) send(rest.subarray(0, end + payloadBytes));
      rest = rest.subarray(end + payloadBytes);
    }
  };
}
