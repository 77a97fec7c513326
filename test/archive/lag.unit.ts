import { expect, it } from 'vitest';
import { LagLog } from '../../src/archive/lag.ts';
import { memoryLog } from '../support/memory-log.ts';

it('the lag is told when it has doubled or halved, and when the archive has caught up', () => {
  const log = memoryLog();
  const lag = new LagLog(log);
  const tell = (...lags: number[]): string[] => {
    for (const one of lags) lag.tell(one);
    return log.lines.splice(0);
  };
  const behind = (level: string, count: number, more = ''): string =>
    `${level}: The archive is ${count} messages behind the end of the stream${more}`;
  expect(tell(0, 9_999, 5)).toStrictEqual([]);
  expect(tell(10_000, 19_999)).toStrictEqual([behind('warn', 10_000)]);
  expect(tell(20_000, 45_000)).toStrictEqual([behind('warn', 20_000), behind('warn', 45_000)]);
  expect(tell(22_501)).toStrictEqual([]);
  expect(tell(22_500)).toStrictEqual([behind('info', 22_500, ', and gains')]);
  expect(tell(9_999, 0)).toStrictEqual(['info: The archive has caught up with the stream']);
  expect(tell(12_000)).toStrictEqual([behind('warn', 12_000)]);
});
