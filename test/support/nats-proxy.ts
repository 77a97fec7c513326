import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy to a real NATS server that can stop passing bytes, or drop acknowledgements. */
export interface NatsProxy {
  /** The address for `--store`. */
  readonly url: string;
  /** The number of accepted connections. */
  connections: number;
  /** While false, bytes wait in both directions, as with a server that hangs. */
  isOpen: boolean;
  /** The answers to a publisher that are dropped: acknowledgements, or refusals too. */
  drops: 'nothing' | 'acknowledgements' | 'answers';
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
      const forward = framed((frame, payload) => {
        if (!DROPPED[proxy.drops].test(payload)) client.write(frame);
      });
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
  const proxy: NatsProxy = {
    url: `nats://127.0.0.1:${own}`,
    connections: 0,
    drops: 'nothing',
    get isOpen() {
      return isOpen;
    },
    set isOpen(open) {
      isOpen = open;
      if (open) for (const join of waiting.splice(0)) join();
    },
  };
  return proxy;
}

const DROPPED = {
  nothing: /(?!)/,
  acknowledgements: /^\{"stream":"\w+", ?"seq":\d+/,
  answers: /^\{("error":\{[^}]*\},)?"stream":"\w+", ?"seq":\d+/,
} as const;

/** Calls `told` with each frame that a server sends, and its payload as text. */
function framed(told: (frame: Buffer, payload: string) => void): (bytes: Buffer) => void {
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
      const frame = rest.subarray(0, end + payloadBytes);
      told(frame, frame.subarray(end).toString('latin1'));
      rest = rest.subarray(frame.length);
    }
  };
}
