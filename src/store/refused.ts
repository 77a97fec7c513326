import type { RefusedStore } from './store.ts';
export const createRefusedStore = (_: {
  isListed: (id: string) => boolean;
  [key: string]: unknown;
}): RefusedStore & { close(): Promise<void> } => ({ keep() {}, close: async () => {} });
