import { accessComment, type Shipped } from './shipped.ts';

/** For Vector 0.30 or later. */
export function vector({ dir, lineBytesMax }: Shipped): string {
  return `# viewlog -> Vector. Run: vector --config FILE.yaml
#
${accessComment('vector', dir)}

# Where it keeps its place in each file.
data_dir: /var/lib/vector

sources:
  viewlog:
    type: file
    # Nothing else: refused-*.ndjson are views that were not taken.
    include: ['${dir}/views-*.ndjson']
    # On its first run, what is there already. From then on the checkpoints tell.
    read_from: beginning
    ignore_checkpoints: false
    # A day's first line has a ts and an id of its own, and so tells the files apart.
    fingerprint:
      strategy: checksum
      lines: 1
      ignored_header_bytes: 0
    # --max-view. A longer line would be skipped.
    max_line_bytes: ${lineBytesMax}
    oldest_first: true

transforms:
  views:
    type: remap
    inputs: [viewlog]
    # What a crash left of a line is no JSON. It was never acknowledged.
    drop_on_error: true
    source: |
      . = object!(parse_json!(string!(.message)))
      # When the view was taken is the event's time.
      .timestamp = parse_timestamp!(.ts, "%+")

sinks:
  # ---- Put the real destination here. ----
  # After a crash a few lines come twice: let it drop what has an id that it has already.
  destination:
    type: console
    inputs: [views]
    encoding:
      codec: json
    # Its place moves on only when the destination has acknowledged.
    acknowledgements:
      enabled: true`;
}
