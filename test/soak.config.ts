import { defineConfig } from 'vitest/config';

const DAY_MS = 24 * 3_600_000;

export default defineConfig({
  test: { include: ['test/soak.ts'], testTimeout: DAY_MS, maxWorkers: 1 },
});
