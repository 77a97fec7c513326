import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { EXECUTABLE, isPresent } from '../support/runtimes.ts';
import { theServiceOn } from '../support/service.ts';

theServiceOn(EXECUTABLE);

it.runIf(isPresent(EXECUTABLE))(
  "the executable carries the licence of Node as well as the bundle's",
  () => {
    const licences = execFileSync(EXECUTABLE.program, ['version', '--licenses'], {
      encoding: 'utf8',
    });
    expect(licences).toMatch(/^=+\nhono \d/m);
    expect(licences).toMatch(/^=+\nNode\.js 26\.\d+\.\d+\n\nNode\.js is licensed/m);
  },
);
