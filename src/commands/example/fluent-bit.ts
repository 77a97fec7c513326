import { accessComment, type Shipped } from './shipped.ts';

const KiB = 1024;

/** For Fluent Bit 3.2 or later, which reads parsers from YAML. */
export function fluentBit({ dir, lineBytesMax }: Shipped): string {
  // Twice, for its buffer also holds the start of the next line.
  const bufferKiB = Math.max(64, Math.ceil((2 * lineBytesMax) / KiB));
  return `# viewlog -> Fluent Bit 3.2 or later. Run: fluent-bit --config=FILE
#
${accessComment('fluent-bit', dir)}
# It keeps its place, and what it has read and not yet delivered, in /var/lib/fluent-bit, which
# has to exist.

service:
  flush: 1
  storage.path: /var/lib/fluent-bit/viewlog-storage
  storage.sync: full

parsers:
  - name: viewlog
    format: json
    # ts, when the view was taken, is the event's time. It stays in the record too.
    time_key: ts
    time_format: '%Y-%m-%dT%H:%M:%S.%LZ'
    time_keep: true

pipeline:
  inputs:
    - name: tail
      tag: viewlog
      parser: viewlog
      # Nothing else: refused-*.ndjson are views that were not taken.
      path: '${dir}/views-*.ndjson'
      db: /var/lib/fluent-bit/viewlog.db
      db.sync: full
      # A file that retention removed leaves its inode number to the next day's.
      db.compare_filename: true
      # On its first run, what is there already. From then on the database tells.
      read_from_head: true
      # A new day's file is found within this many seconds.
      refresh_interval: 5
      # A line is at most ${lineBytesMax} bytes (--max-view). At one that is longer than its buffer,
      # 32k by default, Fluent Bit would stop following the file.
      buffer_chunk_size: ${Math.min(bufferKiB, 512)}k
      buffer_max_size: ${bufferKiB}k
      skip_long_lines: true
      # Its place moves on once a line is read, so that line must outlive a crash.
      storage.type: filesystem

  filters:
    # What a crash left of a line is no JSON and has no id. It was never acknowledged.
    - name: grep
      match: viewlog
      regex: id ^[0-9a-f-]{36}$

  outputs:
    # ---- Put the real destination here. ----
    # After a crash a few lines come twice: let it drop what has an id that it has already
    # (Elasticsearch and OpenSearch: id_key id).
    - name: stdout
      match: viewlog
      format: json_lines
      # ts is in the record.
      json_date_key: false
      # By default a chunk is dropped after one retry.
      retry_limit: no_limits`;
}
