import { LineSchema } from '../../view/line.ts';
import type { SchemaPart } from '../../view/schema-part.ts';
import type { Shipped } from './shipped.ts';

/** For ClickHouse, tried with 26.9. */
export function clickhouse({ dir }: Shipped): string {
  return `-- viewlog's lines in ClickHouse (tried: 26.9). Run: clickhouse-client --multiquery < FILE
-- What has the same key is there once: as soon as it merges, or where it is read with FINAL. So
-- lines may come twice, from a shipper or from here.
CREATE TABLE IF NOT EXISTS views (
${COLUMNS.map(({ name, type }) => `  ${name} ${type}`).join(',\n')}
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(ts) ORDER BY (p, ts, id);

-- Lines go in here, and those that are JSON become views. What a crash left of a line is none; read
-- as JSONEachRow it would take the line behind it along.
CREATE TABLE IF NOT EXISTS view_lines (line String) ENGINE = Null;
CREATE MATERIALIZED VIEW IF NOT EXISTS view_lines_to_views TO views AS SELECT
${COLUMNS.map(({ name, from }) => `  ${from} AS ${name}`).join(',\n')}
FROM view_lines WHERE isValidJSON(line);

-- All that is there already.
INSERT INTO view_lines FROM INFILE '${dir}/views-*.ndjson' FORMAT LineAsString;

SELECT toDate(ts) AS day, p, count() AS views FROM views FINAL GROUP BY day, p ORDER BY day, p;`;
}

interface Column {
  readonly name: string;
  readonly type: string;
  /** What it is of a line. */
  readonly from: string;
}

/** Of the stored line's own schema, so that no field is forgotten. */
const COLUMNS = Object.entries(LineSchema.entries).map(([name, part]) => column(name, part));

function column(name: string, part: SchemaPart): Column {
  if (name === 'ts' || name === 'ld') {
    const from = `parseDateTime64BestEffort(JSONExtractString(line, '${name}'), 3, 'UTC')`;
    return { name, type: "DateTime64(3, 'UTC')", from };
  }
  const isAny = part.wrapped?.item?.type === 'unknown';
  if (isAny) return { name, type: 'String', from: `JSONExtractRaw(line, '${name}')` };
  const type = { id: 'UUID', ubl: 'LowCardinality(String)' }[name] ?? typeOf(part);
  return { name, type, from: `JSONExtract(line, '${name}', '${type}')` };
}

/** What a line does not have becomes 0, false or empty. */
function typeOf({ type, wrapped, entries, item }: SchemaPart): string {
  if (wrapped !== undefined) return typeOf(wrapped);
  if (item !== undefined) return `Array(${typeOf(item)})`;
  if (entries === undefined) return { number: 'Int64', boolean: 'Bool' }[type] ?? 'String';
  const fields = Object.entries(entries).map(([name, field]) => `${name} ${typeOf(field)}`);
  return `Tuple(${fields.join(', ')})`;
}
