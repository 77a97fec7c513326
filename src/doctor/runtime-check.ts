import { doubtful, type Finding, well } from './finding.ts';

/** The oldest that viewlog is tested on. */
const OLDEST = { Node: '20.19', Deno: '2.5', Bun: '1.0' } as const;

interface Runtime {
  readonly name: keyof typeof OLDEST;
  readonly version: string;
  readonly platform: string;
}

/** What runs this program. */
export function runtimeHere(): Runtime {
  const { versions, platform } = process;
  const { deno, bun, node } = versions as Record<string, string | undefined>;
  const name = deno ? 'Deno' : bun ? 'Bun' : 'Node';
  return { name, version: deno ?? bun ?? node ?? '', platform };
}

export function checkRuntime({ name, version, platform }: Runtime): Finding {
  const what = `${name} ${version} on ${platform}`;
  const isTested = platform === 'linux' && !isOlder(version, OLDEST[name]);
  if (isTested) return well('runtime', what);
  const todo = `Run it on Linux, with ${name} ${OLDEST[name]} or later`;
  return doubtful('runtime', what, 'viewlog is not tested there', todo);
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = than.split('.').map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
