import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two cores are what a small machine has; process tests starve each other beyond that.
    maxWorkers: 2,
  },
});
