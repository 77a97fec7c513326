import { expect, it } from 'vitest';
import { ArchiveLog } from '../../src/archive/archive-log.ts';
import { memoryLog } from '../support/memory-log.ts';

it('the lag is logged when it has doubled, and when the archive has caught up', () => {
  const log = memoryLog();
  const archiveLog = new ArchiveLog(log, 'VIEWS');
  const tell = (...lags: number[]): string[] => {
    for (const one of lags) archiveLog.lag(one);
    return log.lines.splice(0);
  };
  const behind = (level: string, count: number): string =>
    `${level}: The archive is ${count.toLocaleString('en')} messages behind the end of the stream`;
  expect(tell(0, 9_999, 5)).toStrictEqual([]);
  expect(tell(10_000, 19_999)).toStrictEqual([behind('warn', 10_000)]);
  expect(tell(20_000, 45_000)).toStrictEqual([behind('warn', 20_000), behind('warn', 45_000)]);
  expect(tell(22_500)).toStrictEqual([]);
  expect(tell(9_999, 0)).toStrictEqual(['info: The archive has caught up with the stream']);
  expect(tell(12_000)).toStrictEqual([behind('warn', 12_000)]);
});
