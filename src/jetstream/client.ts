// What viewlog uses of the NATS client. build.mjs bundles this file apart from the rest.
export { connect, credsAuthenticator, errors } from '@nats-io/transport-node';
export { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
