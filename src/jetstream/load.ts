import type * as client from './client.ts';

export type Client = typeof client;

/**
 * The NATS client. Most collectors write files and never need it: it lies in the bundle as an inner
 * module that is evaluated when this is first called, and costs the others no more than its text.
 */
export const loadClient = (): Promise<Client> => import('./client.ts');
