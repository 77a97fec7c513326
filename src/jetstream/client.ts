// What viewlog uses of the NATS client. Only connect.ts imports this, so that it is evaluated late.
export { connect, errors, headers } from '@nats-io/transport-node';
export { jetstreamManager, JetStreamApiError } from '@nats-io/jetstream/internal';
