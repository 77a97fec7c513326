// What viewlog uses of the NATS client. Import it by load.ts only, lest every collector evaluates it.
export { connect, credsAuthenticator, errors, headers } from '@nats-io/transport-node';
export { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
