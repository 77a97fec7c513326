import * as fs from 'node:fs';

/** The user's name, or `#4711`, which sudo takes too, where nothing tells it. */
export function userName(uid: number): string {
  try {
    const line = fs
      .readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.split(':')[2] === String(uid));
    const [name = ''] = line?.split(':') ?? [];
    if (/^[\w.-]+$/.test(name)) return name;
  } catch {
    // Deno may not read it.
  }
  return `#${uid}`;
}

/** Whose process this is; undefined where the runtime does not tell (Deno without --allow-sys=uid). */
export function ownUid(): number | undefined {
  try {
    return process.getuid?.();
  } catch {
    return undefined;
  }
}
