import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/pool.ts'],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // More than the two cores of a small machine: the tests of processes mostly wait.
    maxWorkers: 6,
  },
});
