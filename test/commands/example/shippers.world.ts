import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isHere } from '../../support/runtimes.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { run } from '../../support/viewlog.ts';

// The printed files, parsed: each setting without which the shipper would lose or repeat views.

async function printed(shipper: string, args: readonly string[] = []) {
  const data = tempDir();
  const { code, stdout, stderr } = await run(['example', shipper, ...args], { data });
  expect([code, stderr]).toStrictEqual([0, '']);
  return { data, text: stdout };
}

const FLUENT_BIT = {
  service: { 'storage.path': expect.any(String) },
  parsers: [{ format: 'json', time_key: 'ts', time_keep: true }],
  pipeline: {
    inputs: [
      {
        name: 'tail',
        parser: 'viewlog',
        path: 'DIR/views-*.ndjson',
        read_from_head: true,
        db: '/var/lib/fluent-bit/viewlog.db',
        // A removed file's inode number can become the next file's.
        'db.compare_filename': true,
        // 60 seconds by default.
        refresh_interval: 5,
        // The position is ahead of what is only in memory.
        'storage.type': 'filesystem',
        skip_long_lines: true,
      },
    ],
    filters: [{ name: 'grep', regex: 'id ^[0-9a-f-]{36}$' }],
    // By default a chunk is dropped after one retry.
    outputs: [{ name: 'stdout', retry_limit: 'no_limits' }],
  },
};

const VECTOR = {
  sources: {
    viewlog: {
      include: ['DIR/views-*.ndjson'],
      read_from: 'beginning',
      // Inode numbers are reused after retention.
      fingerprint: { strategy: 'checksum', lines: 1 },
      max_line_bytes: 16_384,
    },
  },
  transforms: { views: { type: 'remap', drop_on_error: true } },
  sinks: { destination: { acknowledgements: { enabled: true } } },
};

const FILEBEAT = {
  'filebeat.inputs': [
    {
      type: 'filestream',
      // Without an id the positions are lost at each start.
      id: 'viewlog',
      paths: ['DIR/views-*.ndjson'],
      'file_identity.fingerprint': null,
      // By default a file below 1 KiB is not shipped.
      'prospector.scanner.fingerprint.length': 64,
      message_max_bytes: 16_384,
    },
  ],
  processors: [
    { 'drop_event.when.has_fields': ['error.message'] },
    { timestamp: { field: 'view.ts' } },
    { copy_fields: { fields: [{ from: 'view.id', to: '@metadata._id' }] } },
  ],
};

it.each([
  ['fluent-bit', FLUENT_BIT],
  ['vector', VECTOR],
  ['filebeat', FILEBEAT],
])(
  '%s follows the view files only, from their start, and keeps its position',
  async (name, has) => {
    const { data, text } = await printed(name);
    // Strict: a duplicate key is an error.
    expect(parse(text.replaceAll(data, 'DIR'), { strict: true })).toMatchObject(has);
  },
);

const RSYSLOGD = '/usr/sbin/rsyslogd';

describe('rsyslog', () => {
  it.skipIf(!isHere(RSYSLOGD))('accepts its configuration, once its directory exists', async () => {
    const { data, text } = await printed('rsyslog');
    const file = join(data, 'rsyslog.conf');
    const own = text.replaceAll('/var/spool/rsyslog', join(data, 'spool'));
    const check = () => execFileSync(RSYSLOGD, ['-N1', '-f', file], { stdio: 'pipe' });
    writeFileSync(file, own);
    expect(check).toThrow('WorkDirectory');
    const [, command = ''] = /^# {3}sudo (install -d .*)$/m.exec(own)!;
    execFileSync('sh', ['-c', command]);
    expect(check).not.toThrow();
    writeFileSync(file, own.replace('ruleset(', 'rulesets('));
    expect(check).toThrow('line');
  });
});

it.each(['fluent-bit', 'vector', 'filebeat', 'rsyslog'])(
  '%s: the file says how to let it read, and where to put the destination',
  async (shipper) => {
    const { data, text } = await printed(shipper);
    expect(text).toContain(`stat -c %G ${data}`);
    expect(text).toContain('usermod --append --groups');
    expect(text).toMatch(/# ---- Replace .*with your destination\. ----$/m);
  },
);
