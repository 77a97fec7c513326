import { BUILD } from '../base/built.ts';
import { printable } from '../base/text.ts';
import * as cluster from './cluster-checks.ts';
import * as collector from './collector-checks.ts';
import * as disk from './disk-checks.ts';
import type { Facts } from './facts.ts';
import { type Finding, type State, type Verdict, warning } from './finding.ts';
import * as proxy from './proxy.ts';

type Check = (facts: Facts) => readonly Verdict[];

/** The checks by name, the most important first. Each check sees only the facts. */
const CHECKS: Readonly<Record<string, Check>> = {
  access: disk.checkAccess,
  'projects file': collector.checkProjects,
  lock: collector.checkLock,
  'data directory': disk.checkDirectory,
  'free space': disk.checkSpace,
  cluster: cluster.checkCluster,
  'cluster permissions': cluster.checkPermissions,
  stream: cluster.checkStream,
  'stream settings': cluster.checkSettings,
  'server clock': cluster.checkClock,
  collector: collector.checkCollector,
  health: collector.checkHealth,
  refusals: collector.checkRefusals,
  url: proxy.checkUrl,
  cors: proxy.checkCors,
  size: proxy.checkSize,
  view: proxy.checkView,
  'overdue files': collector.checkOverdue,
  'write and sync': disk.checkWriting,
  clock: disk.checkClock,
  'file system': disk.checkFileSystem,
  user: disk.checkUser,
  permissions: disk.checkPermissions,
  runtime: collector.checkRuntime,
  settings: collector.checkSettings,
};

/** The worst first. */
export const STATES: readonly State[] = ['error', 'warning', 'ok'];

/** The texts contain names of files, answers of other programs and data from unknown senders. */
const shown = (text: string): string =>
  text
    .split('\n')
    .map((line) => printable(line, Infinity))
    .join('\n');

/** Runs a check. A collector of another version may show its state in another form. */
function understood(run: Check, facts: Facts): readonly Verdict[] {
  const { version = BUILD } = facts.status.overview ?? {};
  try {
    return run(facts);
  } catch (cause) {
    if (version === BUILD) throw cause;
    const what = `viewlog ${version} is running, but this doctor (${BUILD}) can't read all of its status.`;
    return [
      warning(what, `Run the doctor of that version or look at ${facts.status.address}/status.txt`),
    ];
  }
}

/** Returns the findings: first errors, then warnings, then findings that are ok. */
export function examine(facts: Facts): Finding[] {
  const verdicts = Object.entries(CHECKS).map(
    ([check, run]) => [check, understood(run, facts)] as const,
  );
  // An error of `url` doesn't count, because it may only show that viewlog isn't running.
  const isHindered = verdicts.some(
    ([check, all]) => check !== 'url' && all.some(({ state }) => state === 'error'),
  );
  const findings = verdicts.flatMap(([check, all]) =>
    all.map(({ state, what, fix, isStart }): Finding => {
      const whole =
        isStart && isHindered
          ? `Correct the errors above. If one is about an option, change it in this command. Then ${fix!.replace(/^S/, 's')}`
          : fix;
      return { check, state, what: printable(what, Infinity), fix: whole && shown(whole) };
    }),
  );
  return STATES.flatMap((state) => findings.filter((finding) => finding.state === state));
}
