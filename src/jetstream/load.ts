import type * as client from './client.ts';

export type Client = typeof client;

/**
 * Loads the NATS client. Most collectors write files and never need it, so the bundle evaluates it
 * only when this is first called.
 */
export const loadClient = (): Promise<Client> => import('./client.ts');
