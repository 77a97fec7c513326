import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isHere } from '../../support/runtimes.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { run } from '../../support/viewlog.ts';

// What is printed is parsed by a parser of its format, and each setting that a shipper would go
// wrong without is looked for, with the reason.

// oxlint-disable-next-line typescript/no-explicit-any
type Config = Record<string, any>;

async function printed(shipper: string, args: readonly string[] = []) {
  const data = tempDir();
  const { code, stdout, stderr } = await run(['example', shipper, ...args], { data });
  expect([code, stderr]).toStrictEqual([0, '']);
  return { data, text: stdout };
}

async function parsed(shipper: string, args: readonly string[] = []) {
  const { data, text } = await printed(shipper, args);
  // Fails on a duplicate key too.
  return { data, text, config: parse(text, { strict: true }) as Config };
}

describe('the Fluent Bit configuration', () => {
  it('follows the view files only, from their start, and keeps its place', async () => {
    const { data, config } = await parsed('fluent-bit');
    const { inputs, outputs } = config['pipeline'] as { inputs: object[]; outputs: object[] };
    expect(inputs).toHaveLength(1);
    expect(inputs[0]).toMatchObject({
      name: 'tail',
      path: `${data}/views-*.ndjson`,
      read_from_head: true,
      db: '/var/lib/fluent-bit/viewlog.db',
      // Retention frees inode numbers, and the next file gets one: its start would be passed over.
      'db.compare_filename': true,
      // Midnight: 60 seconds by default.
      refresh_interval: 5,
      // Its place in the database is beyond what it holds in memory.
      'storage.type': 'filesystem',
    });
    expect(config['service']).toMatchObject({ 'storage.path': expect.any(String) });
    // A chunk is dropped after one retry by default.
    expect(outputs[0]).toMatchObject({ name: 'stdout', retry_limit: 'no_limits' });
  });

  it('parses JSON, takes ts as the time and passes over what has no id', async () => {
    const { config } = await parsed('fluent-bit');
    expect(config['parsers']).toStrictEqual([
      {
        name: 'viewlog',
        format: 'json',
        time_key: 'ts',
        time_format: '%Y-%m-%dT%H:%M:%S.%LZ',
        time_keep: true,
      },
    ]);
    const { inputs, filters } = config['pipeline'] as Record<string, { parser?: string }[]>;
    expect(inputs![0]!.parser).toBe('viewlog');
    expect(filters).toStrictEqual([
      { name: 'grep', match: 'viewlog', regex: 'id ^[0-9a-f-]{36}$' },
    ]);
  });

  it.each([
    ['1KiB', '64k', '64k'],
    ['16KiB', '64k', '64k'],
    ['100KiB', '200k', '200k'],
    ['1MiB', '512k', '2048k'],
  ])('holds lines of --max-view %s: longer ones end its following', async (max, chunk, buffer) => {
    const { config } = await parsed('fluent-bit', ['--max-view', max]);
    const { inputs } = config['pipeline'] as { inputs: object[] };
    expect(inputs[0]).toMatchObject({
      buffer_chunk_size: chunk,
      buffer_max_size: buffer,
      skip_long_lines: true,
    });
  });
});

describe('the Vector configuration', () => {
  it('follows the view files only, from their start, and keeps its place', async () => {
    const { data, config } = await parsed('vector');
    expect(config).toMatchObject({
      data_dir: '/var/lib/vector',
      sources: {
        viewlog: {
          type: 'file',
          include: [`${data}/views-*.ndjson`],
          read_from: 'beginning',
          ignore_checkpoints: false,
          // Not by inode: retention frees them.
          fingerprint: { strategy: 'checksum', lines: 1 },
          max_line_bytes: 16_384,
        },
      },
      // Its place moves on when it is delivered, not when it is read.
      sinks: { destination: { type: 'console', acknowledgements: { enabled: true } } },
    });
    const { config: large } = await parsed('vector', ['--max-view', '1MiB']);
    expect(large).toMatchObject({ sources: { viewlog: { max_line_bytes: 1_048_576 } } });
  });

  it('parses JSON, takes ts as the time and passes over what is none', async () => {
    const { config } = await parsed('vector');
    const { views } = config['transforms'] as { views: { source: string } };
    expect(views).toMatchObject({ type: 'remap', inputs: ['viewlog'], drop_on_error: true });
    expect(views.source).toContain('. = object!(parse_json!(string!(.message)))');
    expect(views.source).toContain('.timestamp = parse_timestamp!(.ts, "%+")');
  });
});

describe('the Filebeat configuration', () => {
  it('follows the view files only, small ones too, and keeps its place', async () => {
    const { data, config } = await parsed('filebeat', ['--max-view', '64KiB']);
    expect(config['path.data']).toBe('/var/lib/filebeat');
    expect(config['filebeat.inputs']).toMatchObject([
      {
        type: 'filestream',
        // Without one its places are lost at each start.
        id: 'viewlog',
        paths: [`${data}/views-*.ndjson`],
        'file_identity.fingerprint': null,
        'prospector.scanner.fingerprint.enabled': true,
        // By default a file under 1 KiB is not shipped. A line's first 64 bytes hold ts and half
        // of its id.
        'prospector.scanner.fingerprint.length': 64,
        message_max_bytes: 65_536,
        parsers: [{ ndjson: { target: 'view', add_error_key: true } }],
      },
    ]);
    expect(config['output.console']).toBeTruthy();
  });

  it('takes ts as the time and id as the document’s, and passes over what is no JSON', async () => {
    const { config } = await parsed('filebeat');
    expect(config['processors']).toMatchObject([
      { 'drop_event.when.has_fields': ['error.message'] },
      { timestamp: { field: 'view.ts', layouts: ['2006-01-02T15:04:05.999Z'] } },
      { copy_fields: { fields: [{ from: 'view.id', to: '@metadata._id' }] } },
    ]);
  });
});

const RSYSLOGD = '/usr/sbin/rsyslogd';

describe('the rsyslog configuration', () => {
  it.skipIf(!isHere(RSYSLOGD))(
    'says how its directory is made, without which it is none',
    async () => {
      const { data, text } = await printed('rsyslog');
      const file = join(data, 'rsyslog.conf');
      const own = text.replaceAll('/var/spool/rsyslog', join(data, 'spool'));
      writeFileSync(file, own);
      const check = () => execFileSync(RSYSLOGD, ['-N1', '-f', file], { stdio: 'pipe' });
      expect(check).toThrow('WorkDirectory');
      const [, command = ''] = /^# {3}sudo (install -d .*)$/m.exec(own)!;
      execFileSync('sh', ['-c', command]);
      expect(check).not.toThrow();
    },
  );

  it.skipIf(!isHere(RSYSLOGD))('is one that rsyslog takes', async () => {
    const { data, text } = await printed('rsyslog');
    const file = join(data, 'rsyslog.conf');
    writeFileSync(file, text);
    expect(text).toContain('#   sudo rsyslogd -N1 && sudo systemctl restart rsyslog\n');
    execFileSync(RSYSLOGD, ['-N1', '-f', file], { stdio: 'pipe' });
    writeFileSync(file, text.replace('ruleset(', 'rulesets('));
    expect(() => execFileSync(RSYSLOGD, ['-N1', '-f', file], { stdio: 'pipe' })).toThrow('line');
  });

  it('holds lines of --max-view, which are cut up at 8 KiB by default', async () => {
    expect((await printed('rsyslog')).text).toContain('maxMessageSize="16384"');
    const small = await printed('rsyslog', ['--max-view', '1KiB']);
    expect(small.text).toContain('maxMessageSize="8192"');
  });
});

describe.each(['fluent-bit', 'vector', 'filebeat', 'rsyslog'])('for %s', (shipper) => {
  it('says how it gets to read the files, and where the destination goes', async () => {
    const { data, text } = await printed(shipper);
    expect(text).toContain(`stat -c %G ${data}`);
    expect(text).toContain('usermod --append --groups');
    expect(text).toMatch(/# ---- Replace .*with your destination\. ----$/m);
    for (const line of text.split('\n')) expect(line.replace(data, '').length).toBeLessThan(101);
  });
});

describe('a shipper', () => {
  it('gets no configuration for a directory that a pattern would read as another', async () => {
    const data = join(tempDir(), '[views]');
    mkdirSync(data);
    const { code, stderr } = await run(['example', 'vector'], { data });
    expect([code, stderr]).toStrictEqual([
      64,
      `error: "${data}" has characters that shippers interpret; rename it\n`,
    ]);
  });

  it.each(['fluent-bit', 'vector', 'filebeat'])(
    'gets a directory whose name YAML would read as something else as it is: %s',
    async (shipper) => {
      const data = join(tempDir(), 'a: b #c - !x');
      mkdirSync(data);
      const { stdout, stderr } = await run(['example', shipper], { data });
      expect(stderr).toBe('');
      expect(JSON.stringify(parse(stdout, { strict: true }))).toContain(`"${data}/views-*.ndjson"`);
    },
  );

  it.each(['vector', 'clickhouse'])('gets none for a stream: %s', async (name) => {
    const { code, stderr } = await run(['example', name, '--store', 'nats://u:s3cret@host']);
    expect([code, stderr]).toStrictEqual([
      64,
      "error: A stream has no files to read; leave out --store, and give the archive's --data\n",
    ]);
  });
});
