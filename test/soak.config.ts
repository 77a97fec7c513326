import { defineConfig } from 'vitest/config';

const DAY_MS = 24 * 3_600_000;

/** Programs other than tests: `npm run soak` and `npm run picture`. */
export default defineConfig({
  test: { include: ['test/soak.ts', 'test/picture.ts'], testTimeout: DAY_MS, maxWorkers: 1 },
});
