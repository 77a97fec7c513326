import { createRequire } from 'node:module';
import { TOOLS } from './runtimes.ts';

export const DUCKDB = `${TOOLS}/@duckdb/node-api`;

interface DuckDb {
  DuckDBInstance: {
    create(): Promise<{
      connect(): Promise<{ runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }> }>;
    }>;
  };
}

/** The rows that DuckDB answers with. */
export async function query(sql: string): Promise<unknown[][]> {
  const { DuckDBInstance } = createRequire(import.meta.url)(DUCKDB) as DuckDb;
  const connection = await (await DuckDBInstance.create()).connect();
  return (await connection.runAndReadAll(sql)).getRowsJson();
}
