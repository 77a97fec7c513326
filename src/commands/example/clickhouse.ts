import { LineSchema } from '../../view/line.ts';
import type { SchemaPart } from '../../view/schema-part.ts';
import type { Shipped } from './shipped.ts';

/** For ClickHouse 23.1 or later. */
export function clickhouse({ dir }: Shipped): string {
  return `-- viewlog's lines in ClickHouse 23.1 or later: clickhouse-client --multiquery < FILE
CREATE TABLE IF NOT EXISTS views (
${columns()}
-- What has the same key is dropped when it merges, FINAL: at once. So a line that comes twice, from a
-- shipper or from here, is there once.
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(ts) ORDER BY (p, ts, id);

-- All that the files have; with a shipper in its place, from here on.
INSERT INTO views FROM INFILE '${dir}/views-*.ndjson' SETTINGS
  date_time_input_format = 'best_effort',
  -- cf and csf hold any JSON.
  input_format_json_read_arrays_as_strings = 1, input_format_json_read_objects_as_strings = 1,
  -- A newer viewlog may have more fields.
  input_format_skip_unknown_fields = 1,
  -- What a crash left of a line is no JSON. It was never acknowledged.
  input_format_allow_errors_num = 1000
FORMAT JSONEachRow;

SELECT toDate(ts) AS day, p, count() AS views FROM views FINAL GROUP BY ALL ORDER BY ALL;`;
}

/** Of the stored line's own schema, so that no field is forgotten. */
const columns = (): string =>
  Object.entries(LineSchema.entries)
    .map(([name, part]) => `  ${name} ${SPECIAL[name] ?? typeOf(part)}`)
    .join(',\n');

const TIME = "DateTime64(3, 'UTC')";
/** Strings of which it is known what they hold. */
const SPECIAL: Record<string, string> = {
  ts: TIME,
  id: 'UUID',
  ld: TIME,
  ubl: 'LowCardinality(String)',
};

/** What is absent becomes 0, false or empty. */
function typeOf(part: SchemaPart): string {
  const { type, wrapped, entries, item } = part;
  if (wrapped !== undefined) return typeOf(wrapped);
  if (entries !== undefined) {
    const fields = Object.entries(entries).map(([name, field]) => `${name} ${typeOf(field)}`);
    return `Tuple(${fields.join(', ')})`;
  }
  if (type === 'array') return item?.type === 'unknown' ? 'String' : `Array(${typeOf(item!)})`;
  return { number: 'Int64', boolean: 'Bool' }[type] ?? 'String';
}
