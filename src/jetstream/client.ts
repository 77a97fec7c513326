// The part of the NATS client that viewlog uses. Only connect.ts imports it, so that it is
// evaluated late.
import {
  NatsConnectionImpl,
  setTransportFactory,
} from '@nats-io/transport-node/lib/nats-base-client.js';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { nodeResolveHost, NodeTransport } from '@nats-io/transport-node/lib/node_transport.js';

export { jetstreamManager, JetStreamApiError } from '@nats-io/jetstream/internal';
export { errors, headers } from '@nats-io/transport-node';

/**
 * Checks the certificate of a server that is given by its IP address. For such a server, the
 * client's own transport gives TLS no name to check, and TLS assumes "localhost" instead.
 */
class CheckingTransport extends NodeTransport {
  #host = '';

  override connect(...[server, options]: Parameters<NodeTransport['connect']>): Promise<void> {
    this.#host = server.hostname;
    return super.connect(server, options);
  }

  override startTLS(): ReturnType<NodeTransport['startTLS']> {
    // TLS prefers `servername`, which is set for a server that has a name.
    const tls = { ...this.options.tls, host: this.#host };
    this.options = { ...this.options, tls };
    return super.startTLS();
  }
}

export function connect(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new CheckingTransport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options);
}
