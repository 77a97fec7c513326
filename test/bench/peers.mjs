// Programs that do as much or less, measured where they are on the PATH.
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** @returns its path, or that it is missing. */
function onPath(program) {
  const dirs = (process.env.PATH ?? '').split(delimiter);
  const path = dirs.map((dir) => join(dir, program)).find(existsSync);
  return path === undefined ? { missing: `${program} on the PATH` } : { path };
}

/** What it is given to do is thrown away with its directory. */
const peer = (name, program, rest) => {
  const { path, missing } = onPath(program);
  const found = missing ? { missing } : rest(path);
  return { name, stopSignal: 'SIGKILL', ...found };
};

/** Answers when a view is in its memory, before it is in the file. */
const FLUENT_BIT = peer('Fluent Bit, HTTP in, file out', 'fluent-bit', (program) => ({
  command: (port, dir) => [
    program,
    ...'--quiet --flush=1'.split(' '),
    ...`--input=http --prop=listen=127.0.0.1 --prop=port=${port}`.split(' '),
    ...`--output=file --match=* --prop=path=${dir} --prop=file=views.ndjson`.split(' '),
    '--prop=format=plain',
  ],
}));

/** With acknowledgements: answers when a view was handed to the file, without a sync. */
const VECTOR = peer('Vector, HTTP in, file out', 'vector', (program) => ({
  command(port, dir) {
    const config = join(dir, 'vector.yaml');
    writeFileSync(
      config,
      `
data_dir: ${dir}
sources:
  in: { type: http_server, address: "127.0.0.1:${port}", path: /view, decoding: { codec: json } }
sinks:
  out:
    type: file
    inputs: [in]
    path: ${join(dir, 'views.ndjson')}
    encoding: { codec: json }
    acknowledgements: { enabled: true }
`,
    );
    return [program, '--quiet', '--config', config];
  },
}));

/** Takes what counts from the query, keeps it in memory at first, and closes each connection. */
const GOATCOUNTER = peer('GoatCounter, SQLite', 'goatcounter', (program) => {
  const database = '-db sqlite+views.sqlite3';
  const site = '-vhost=views.example.net -user.email=bench@example.com -user.password=benchmark';
  return {
    target: `/count?p=${encodeURIComponent('/turer/høst-i-fjellene')}&t=Turer`,
    before: () => [program, ...`db create site -createdb ${database} ${site}`.split(' ')],
    command: (port) => [
      program,
      ...`serve ${database} -automigrate -tls=http -listen=127.0.0.1:${port}`.split(' '),
      '-ratelimit=count:100000000/1',
    ],
  };
});

export const PEERS = { fluentBit: FLUENT_BIT, vector: VECTOR, goatcounter: GOATCOUNTER };
