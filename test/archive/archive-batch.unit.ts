import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { readMessage } from '../../src/archive/archive-batch.ts';
import { storedLines } from '../support/stored-lines.ts';

it('an archive remembers an id without keeping the line of the id in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const tail = `,"pn":"${'x'.repeat(500_000)}"}`;
  const [line = ''] = storedLines('2026-01-01', 1);
  const read = () => readMessage(Buffer.from(line.replace(/\}$/, tail)))?.id;
  const before = heapBytes();
  const ids = Array.from({ length: 100 }, read);
  expect(heapBytes() - before).toBeLessThan(10_000_000);
  expect(new Set(ids).size).toBe(1);
  expect(line).toContain(`"id":"${ids[0]}"`);
});
