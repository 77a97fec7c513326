import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { exampleOf } from '../../support/examples.ts';
import { isHere } from '../../support/runtimes.ts';
import { dataDirectory } from '../../support/viewlog.ts';

// Parses the printed files and looks for each setting without which a shipper would lose or repeat
// views.

/**
 * Prints a shipper's file and checks that it says how to let the shipper read, and where to put
 * the destination.
 */
async function printed(shipper: string) {
  const data = dataDirectory();
  chownSync(data, 1001, 1002);
  const text = await exampleOf(shipper, [], { data });
  expect(text).toContain(
    `member of the group that owns ${data}:\n#   sudo usermod --append --groups `,
  );
  expect(text).toMatch(/# ---- Replace .*with your destination\. ----$/m);
  return { data, text };
}

/** The lines without which a shipper loses or repeats views; the files give the reasons. */
const NEEDED = {
  'fluent-bit': `
    path: 'DIR/views-*.ndjson'
    db: /var/lib/fluent-bit/viewlog.db
    db.compare_filename: true
    read_from_head: true
    refresh_interval: 5
    buffer_max_size: 64k
    skip_long_lines: true
    storage.type: filesystem
    time_keep: true
    regex: id ^[0-9a-f-]{36}$
    retry_limit: no_limits`,
  vector: `
    include: ['DIR/views-*.ndjson']
    read_from: beginning
    strategy: checksum
    lines: 1
    max_line_bytes: 16384
    drop_on_error: true
    acknowledgements:
      enabled: true`,
  filebeat: `
  - type: filestream
    id: viewlog
    paths: ['DIR/views-*.ndjson']
    file_identity.fingerprint: ~
    prospector.scanner.fingerprint.length: 64
    message_max_bytes: 16384
  - drop_event.when.has_fields: ['error.message']
      field: view.ts
        - from: view.id
          to: '@metadata._id'`,
};

it.each(Object.entries(NEEDED))('%s follows the view files only', async (name, needed) => {
  const { data, text } = await printed(name);
  // Uses the strict parser, to which a duplicate key is an error.
  expect(() => parse(text, { strict: true }) as unknown).not.toThrow();
  const lines = text.replaceAll(data, 'DIR').split('\n');
  const trimmed = lines.map((line) => line.trim());
  for (const line of needed.trim().split('\n')) expect(trimmed).toContain(line.trim());
});

const RSYSLOGD = '/usr/sbin/rsyslogd';

it.skipIf(!isHere(RSYSLOGD))(
  'rsyslog accepts its configuration once its work directory exists',
  async () => {
    const { data, text } = await printed('rsyslog');
    const file = join(data, 'rsyslog.conf');
    const own = text.replaceAll('/var/spool/rsyslog', join(data, 'spool'));
    const check = () => execFileSync(RSYSLOGD, ['-N1', '-f', file], { stdio: 'pipe' });
    writeFileSync(file, own);
    expect(check).toThrow('WorkDirectory');
    mkdirSync(join(data, 'spool'));
    expect(check).not.toThrow();
  },
);
