import { LineSchema } from '../../view/line.ts';
import type { SchemaPart } from '../../view/pattern.ts';

/**
 * The columns of a table for views, made from the line's schema, so that the table lacks no field.
 */
export const COLUMNS = Object.entries(LineSchema.entries).map(([name, part]) => column(name, part));

/** Returns a column's name, its type, and the expression that reads it from a line. */
function column(name: string, part: SchemaPart) {
  if (name === 'ts' || name === 'ld') {
    const from = `parseDateTime64BestEffort(JSONExtractString(line, '${name}'), 3, 'UTC')`;
    return { name, type: "DateTime64(3, 'UTC')", from };
  }
  const isAny = part.wrapped?.item?.type === 'unknown';
  if (isAny) return { name, type: 'String', from: `JSONExtractRaw(line, '${name}')` };
  const type = { id: 'UUID', ubl: 'LowCardinality(String)' }[name] ?? typeOf(part);
  return { name, type, from: `JSONExtract(line, '${name}', '${type}')` };
}

/**
 * Returns a field's type in ClickHouse, which reads a field that a line lacks as 0, false or empty.
 */
function typeOf({ type, wrapped, entries, item }: SchemaPart): string {
  if (wrapped !== undefined) return typeOf(wrapped);
  if (item !== undefined) return `Array(${typeOf(item)})`;
  if (entries === undefined) return { number: 'Int64', boolean: 'Bool' }[type] ?? 'String';
  const fields = Object.entries(entries).map(([name, field]) => `${name} ${typeOf(field)}`);
  return `Tuple(${fields.join(', ')})`;
}
