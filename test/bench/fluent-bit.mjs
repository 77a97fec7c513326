// Fluent Bit, measured if it is on the PATH. It answers once a view is in its memory, before the
// view is in the file.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const PROGRAM = (process.env.PATH ?? '')
  .split(delimiter)
  .map((dir) => join(dir, 'fluent-bit'))
  .find(existsSync);

export const FLUENT_BIT = {
  name: 'Fluent Bit, HTTP in, file out',
  stopSignal: 'SIGKILL',
  ...(PROGRAM === undefined ? { missing: 'fluent-bit on the PATH' } : {}),
  command: (port, dir) => [
    PROGRAM,
    ...'--quiet --flush=1'.split(' '),
    ...`--input=http --prop=listen=127.0.0.1 --prop=port=${port}`.split(' '),
    ...`--output=file --match=* --prop=path=${dir} --prop=file=views.ndjson`.split(' '),
    '--prop=format=plain',
  ],
};
