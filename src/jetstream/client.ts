// What viewlog uses of the NATS client. Only load.ts imports this, so that it is evaluated late.
export { connect, credsAuthenticator, errors, headers } from '@nats-io/transport-node';
export { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
