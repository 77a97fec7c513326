import { defineConfig } from 'vitest/config';

const DAY_MS = 24 * 3_600_000;

/** The programs that are not run as tests: `npm run soak` and `npm run picture`. */
export default defineConfig({
  test: { include: ['test/soak.ts', 'test/picture.ts'], testTimeout: DAY_MS, maxWorkers: 1 },
});
