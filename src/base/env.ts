// Environment variables. Deno asks for permission to read them, and without it there are none.

/** Reads one environment variable. */
export type ReadEnv = (name: string) => string | undefined;

export const readEnv: ReadEnv = (name) => ifPermitted(() => process.env[name]);

/** Returns the names of all environment variables. */
export const envNames = (): string[] => ifPermitted(() => Object.keys(process.env)) ?? [];

function ifPermitted<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
