import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Four kinds of tests, by the end of a file's name:
//   *.unit.ts      functions and classes in this process; no bundle
//   *.program.ts   the bundle as a process on Node
//   *.runtimes.ts  what depends on the runtime, on each one that it concerns
//   *.world.ts     browsers, NATS, proxies, shippers, small disks, root, the single executable
const kind = (name: string, timeoutMs: number): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [`test/**/*.${name}.ts`], testTimeout: timeoutMs, hookTimeout: timeoutMs },
});

/** Small files that take long: vitest would start them last, and then wait for them alone. */
const LONG = ['simulation/simulate.unit.ts', 'status/listener.program.ts', 'disk/lock.unit.ts'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    // Loading the modules again for each file would take up a sixth of the run.
    isolate: false,
    // More than a small machine's two cores, because tests of processes mostly wait.
    maxWorkers: Number(process.env['TEST_WORKERS'] ?? 4),
    // The timeouts are long, because a busy machine is slow. They only end tests that hang.
    projects: [
      kind('unit', 120_000),
      kind('program', 300_000),
      kind('runtimes', 300_000),
      kind('world', 300_000),
    ],
  },
});
