import { createRequire } from 'node:module';
import { isHere, TOOLS } from './runtimes.ts';

const DUCKDB = `${TOOLS}/@duckdb/node-api`;

/** The part of DuckDB's package that the tests use, because the package isn't a dependency. */
interface DuckDb {
  DuckDBInstance: {
    create(): Promise<{
      connect(): Promise<{ runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }> }>;
    }>;
  };
}

export const hasDuckDb = (): boolean => isHere(DUCKDB);

/** Creates an empty database. Returns a function that runs a statement and returns its rows. */
export async function newDuckDb() {
  const { DuckDBInstance } = createRequire(import.meta.url)(DUCKDB) as DuckDb;
  const connection = await (await DuckDBInstance.create()).connect();
  return async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
}
