import { accessComment, type Shipped } from './shipped.ts';

/** For Filebeat 8.15 or later: 8.14 ships finished files again (elastic/beats#40178, #40258). */
export function filebeat({ dir, lineBytesMax }: Shipped): string {
  return `# viewlog -> Filebeat 8.15 or later, for 8.14 ships finished files again. Run: filebeat -c FILE
#
${accessComment('filebeat', dir)}

filebeat.inputs:
  - type: filestream
    # Its place in each file is kept under this name: never change it.
    id: viewlog
    # Nothing else: refused-*.ndjson are views that were not taken. A file that is new to it is
    # read from its start.
    paths: ['${dir}/views-*.ndjson']
    # Files are told apart by their first bytes, which hold a ts and an id. By default it takes
    # 1,024, and does not ship a file before it has as many: not a quiet site's day.
    file_identity.fingerprint: ~
    prospector.scanner.fingerprint.enabled: true
    prospector.scanner.fingerprint.offset: 0
    prospector.scanner.fingerprint.length: 64
    # A new day's file is found within this time.
    prospector.scanner.check_interval: 5s
    # At least --max-view. What is beyond it would be cut off.
    message_max_bytes: ${lineBytesMax}
    parsers:
      - ndjson:
          # In a field of its own: at the top, "url" and "content" would clash with the Elastic
          # Common Schema.
          target: view
          overwrite_keys: true
          add_error_key: true

processors:
  # What a crash left of a line is no JSON. It was never acknowledged.
  - drop_event.when.has_fields: ['error.message']
  # When the view was taken is the event's time.
  - timestamp:
      field: view.ts
      layouts: ['2006-01-02T15:04:05.999Z']
      test: ['2026-01-31T23:59:59.999Z']
  # After a crash a few lines come twice: Elasticsearch keeps one document an id.
  - copy_fields:
      fields:
        - from: view.id
          to: '@metadata._id'
      fail_on_error: false

# Where it keeps its place in each file.
path.data: /var/lib/filebeat

# ---- Put the real destination here, in place of the console. ----
output.console:
  pretty: false`;
}
