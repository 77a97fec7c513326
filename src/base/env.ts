/** Reads one environment variable; none where the runtime does not allow it (Deno). */
export type ReadEnv = (name: string) => string | undefined;

export const readEnv: ReadEnv = (name) => {
  try {
    return process.env[name];
  } catch {
    return undefined;
  }
};

/** The names of all environment variables; none where the runtime does not allow to list them. */
export function envNames(): string[] {
  try {
    return Object.keys(process.env);
  } catch {
    return [];
  }
}
