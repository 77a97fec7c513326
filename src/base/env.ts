// Environment variables. Deno without the permission to read them shows none.
import { orElse } from './exit.ts';

/** Reads one environment variable. */
export type ReadEnv = (name: string) => string | undefined;

export const readEnv: ReadEnv = (name) => orElse(() => process.env[name], undefined);

/** Returns the names of all environment variables. */
export const envNames = (): string[] => orElse(() => Object.keys(process.env), []);
