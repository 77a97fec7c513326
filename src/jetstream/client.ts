// The part of the NATS client that viewlog uses. Only connect.ts imports it, so that it is
// evaluated late.
export { connect, errors, headers } from '@nats-io/transport-node';
export { jetstreamManager, JetStreamApiError } from '@nats-io/jetstream/internal';
