import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/pool.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // More than the two cores of a small machine: the tests of processes mostly wait.
    maxWorkers: 6,
  },
});
