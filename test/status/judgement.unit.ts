import * as v from 'valibot';
import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import { Counts } from '../../src/status/counts.ts';
import type { StatusModel } from '../../src/status/model.ts';
import { noticesOf } from '../../src/status/problem-words.ts';
import { savedCounts } from '../../src/status/reasons.ts';
import { resentIn } from '../../src/status/resent.ts';
import { slicesOf } from '../../src/status/saved-counts.ts';
import type { JudgedReason } from '../../src/status/state.ts';
import { headlineOf } from '../../src/status/words.ts';
import { Random } from '../simulation/random.ts';
import { NOON, Scene } from '../support/status-scene.ts';

// Compares the status page on random days with what an operator can tell from the requests alone,
// without the code under test. STATUS_SEED repeats a run.

const OLD = 'https://old.example';
const NEW = 'https://new.example';
const NEW_MS = 20 * MINUTE_MS;
const STEP_MS = 10_000;
const LOOKED_AT_MS = 5 * HOUR_MS;

type Cause =
  | 'origin-not-allowed'
  | 'rate-limited'
  | 'invalid-view'
  | 'malformed-json'
  | 'project-not-activated';

interface Sent {
  readonly atMs: number;
  readonly project: string;
  readonly origin: string;
  /** The reason for the refusal, if the view was refused. */
  readonly cause?: Cause | undefined;
  /** The field that is wrong, if the view is invalid. */
  readonly field?: string | undefined;
  fate?: 'stored' | 'lost' | 'resent';
}

/** A site and its fault. */
interface Site {
  readonly id: string;
  readonly cause: Cause;
  readonly perMinute: number;
  /** When the site stops sending and starts again. */
  readonly pausedMs: readonly [number, number];
  /** When the cause begins, and when somebody removes it. */
  readonly brokenMs: readonly [number, number];
  /** One in this many views of a broken page is refused. */
  readonly every: number;
  count: number;
}

class World {
  readonly random: Random;
  readonly scene: Scene;
  readonly sites: Site[];
  /** The views that the collector counts. */
  readonly sent: Sent[] = [];
  /** The views that it had counted when its counts were lost. */
  readonly forgotten: Sent[] = [];
  readonly endMs: number;
  startMs: number;
  isOut = false;
  /** When the collector couldn't store views or didn't run. */
  outMs: readonly [number, number];
  /** When the counts are lost, while views from the new address are refused. */
  readonly lostMs: number;

  constructor(seed: number) {
    this.random = new Random(seed);
    const { random } = this;
    this.startMs = NOON;
    this.endMs = NOON + 29 * HOUR_MS + random.below(2 * HOUR_MS);
    const causes: Cause[] = [
      'origin-not-allowed',
      'rate-limited',
      'invalid-view',
      'malformed-json',
      'project-not-activated',
    ];
    this.sites = causes.map((cause, i) => {
      const from = this.endMs - random.below(5 * HOUR_MS);
      const pause = this.endMs - 3 * HOUR_MS - random.below(5 * HOUR_MS);
      return {
        id: String(i + 1),
        cause,
        perMinute: [0.2, 2, 6, 20][random.below(4)]!,
        pausedMs: random.chance(0.4) ? [pause, pause + random.below(8 * HOUR_MS)] : [0, 0],
        brokenMs: [from, from + random.below(3 * HOUR_MS)],
        every: 1 + random.below(4),
        count: 0,
      };
    });
    const out = this.endMs - random.below(5 * HOUR_MS);
    this.outMs = random.chance(0.4) ? [out, out + random.below(HOUR_MS)] : [0, 0];
    const [brokenMs] = this.sites[0]!.brokenMs;
    this.lostMs = random.chance(0.5) ? brokenMs + random.below(NEW_MS) : Infinity;
    this.scene = new Scene(this.listed(NOON), NOON);
  }

  listed(nowMs: number) {
    const isListed = ({ cause, brokenMs }: Site): boolean =>
      cause !== 'project-not-activated' || !within(nowMs, brokenMs);
    return this.sites.filter(isListed).map(({ id, cause, perMinute, brokenMs: [, fixedMs] }) => {
      const isFixed = nowMs >= fixedMs;
      if (cause === 'origin-not-allowed') return { id, origins: isFixed ? [OLD, NEW] : [OLD] };
      if (cause !== 'rate-limited') return { id };
      return { id, maxViewsPerMinute: Math.ceil(perMinute) * (isFixed ? 20 : 2) };
    });
  }

  /** Sends the sites' views of the next ten seconds. */
  step(): void {
    const { scene, random } = this;
    const { nowMs } = scene;
    const wasOut = this.isOut;
    this.isOut = within(nowMs, this.outMs);
    // Yesterday's views matter only for the state `silent`.
    const isEarly = nowMs < this.endMs - LOOKED_AT_MS - HOUR_MS;
    const stepMs = isEarly ? MINUTE_MS : STEP_MS;
    scene.nowMs += stepMs;
    if (this.isOut) return;
    const isLost = nowMs < this.lostMs && scene.nowMs >= this.lostMs;
    if (isLost || wasOut || random.chance(0.0005)) this.restart(isLost);
    if (!isEarly) scene.projects.replace({ projects: this.listed(nowMs) });
    for (const site of this.sites) {
      if (within(nowMs, site.pausedMs)) continue;
      const isBroken = within(nowMs, site.brokenMs);
      // A site over its limit sends ten times as many views.
      const times = site.cause === 'rate-limited' && isBroken ? 10 : isEarly ? 0.2 : 1;
      const views = (times * site.perMinute * stepMs) / MINUTE_MS;
      const whole = Math.floor(views) + Number(random.chance(views % 1));
      for (let i = 0; i < whole; i++) this.send(site, isBroken);
    }
  }

  send(site: Site, isBroken: boolean): void {
    const { scene, random } = this;
    const { nowMs: atMs, counts } = scene;
    const { id, cause, every, brokenMs } = site;
    const project = scene.projects.find(id);
    const isFaulty = isBroken && site.count++ % every === 0;
    // At first, some views come from the new address.
    const origin = isFaulty && atMs - brokenMs[0] < NEW_MS ? NEW : OLD;
    let why: Cause | undefined;
    if (project === undefined) why = 'project-not-activated';
    else if (cause === 'origin-not-allowed') why = project.allowsOrigin(origin) ? undefined : cause;
    else if (cause === 'rate-limited') why = project.takeToken(atMs) > 0 ? cause : undefined;
    else if (isFaulty && cause !== 'project-not-activated') why = cause;
    const field = why === 'invalid-view' ? FIELDS[random.below(FIELDS.length)] : undefined;
    const one: Sent = { atMs, project: id, origin, cause: why, field };
    this.sent.push(one);
    if (why === undefined) return counts.accepted(id, Buffer.from('{"url":"/"}'));
    const limit = project?.maxViewsPerMinute;
    const known = why === 'malformed-json' ? {} : { project: id, ...(limit && { limit }) };
    const text = why === 'malformed-json' ? '{"p":' : `{"url":"/${field}"}`;
    const wrong = { message: 'is bad', expected: 'x', received: 'y' };
    const issues = field === undefined ? [] : [{ field, ...wrong }];
    const onDropped = counts.refused({ code: why, detail: 'x', issues, ...known }, origin, text);
    const isLost = ['rate-limited', 'malformed-json'].includes(why) || random.chance(0.1);
    one.fate = isLost ? 'lost' : 'stored';
    if (isLost) onDropped('full');
  }

  /**
   * Saves the counts, as a stop does, and reads them again.
   * @param isLost true: begins with none.
   */
  restart(isLost: boolean): void {
    const { scene } = this;
    const saved = v.parse(savedCounts, JSON.parse([...slicesOf(scene.counts)].join('')));
    const isListed = (id: string): boolean => scene.projects.find(id) !== undefined;
    Object.assign(scene, { counts: new Counts(() => scene.nowMs, isListed) });
    if (isLost) this.forgotten.push(...this.sent.splice(0));
    else scene.counts.restore(saved);
    this.startMs = scene.nowMs;
  }

  /** Sends some stored views again. */
  replay(): void {
    const { scene, random } = this;
    if (scene.nowMs < this.sites[0]!.brokenMs[1]) return;
    const all = [...this.forgotten, ...this.sent];
    for (const one of all) {
      if (one.cause === 'origin-not-allowed' && one.fate === 'stored' && random.chance(0.3)) {
        one.fate = 'resent';
      }
    }
    const refusedMs = all.filter(({ fate }) => fate === 'resent').map(({ atMs }) => atMs);
    const replayed = [
      { state: '+', project: '1', code: 'origin-not-allowed', origin: NEW, refusedMs },
    ] as const;
    scene.around = { ...scene.around, resent: resentIn(replayed, scene.counts.sinceMs) };
  }
}

/** The fields that are wrong on the pages of the site with invalid views: one per page. */
const FIELDS = ['mb', 'url', 'hc'];

const within = (ms: number, [from, to]: readonly [number, number]): boolean =>
  ms >= from && ms < to;

/** Returns what an operator could object to on the page. */
function objections(world: World, model: StatusModel): string[] {
  const { scene, sent, startMs, outMs } = world;
  const { nowMs } = scene;
  const minute = Math.floor(nowMs / MINUTE_MS);
  const lastHour = sent.filter(({ atMs }) => Math.floor(atMs / MINUTE_MS) > minute - 60);
  const [headlineColour, headline] = headlineOf(model);
  const said: string[] = [];
  const object = (isWrong: boolean, what: string): void => void (isWrong && said.push(what));
  for (const site of world.sites) {
    const { id, cause, brokenMs, every } = site;
    const isUnreadable = cause === 'malformed-json';
    const row = isUnreadable ? undefined : model.projects.find((one) => one.id === id)!;
    const problem = model.problems.find(({ kind, id: of }) =>
      isUnreadable ? kind === 'requests' : of === id,
    );
    const colour = problem?.colour;
    const isOpen = colour === 'red' || colour === 'amber';
    const views = lastHour.filter(({ project }) => isUnreadable || project === id);
    const refused = views.filter((one) => one.cause === cause).length;
    const accepted = isUnreadable
      ? views.length - refused
      : views.filter((one) => !one.cause).length;
    // Only accepted views show that an unlisted id was once listed.
    const own = sent.filter(({ project, atMs }) => project === id && nowMs - atMs < DAY_MS);
    const isKnown = cause !== 'project-not-activated' || own.some((one) => !one.cause);
    const isOn = within(nowMs, brokenMs) && refused > 0 && isKnown;
    const all = `${cause} of ${id}: ${refused} of ${accepted + refused} refused, said ${colour}`;
    const name = isUnreadable ? 'Requests without a project' : `Project ${id}`;
    const isNamed = headline.includes(name);
    // The headline names three problems, the worst first, and counts the others.
    const isCounted = isNamed || /^(?:[^;]+; ){3}[1-9] more problems?$/.test(headline);
    if (isOn && accepted === 0 && !isUnreadable) {
      object(colour !== 'red' || headlineColour !== 'red' || !isNamed, `all: ${all}`);
    }
    if (isOn && refused * 10 > accepted + refused) object(!isOpen || !isCounted, `open: ${all}`);
    // Accepted views don't show that an origin or a limit is fixed.
    const isStated = cause === 'origin-not-allowed' || cause === 'rate-limited';
    object(isOn && isStated && colour === 'green', `never fixed: ${all}`);
    object(refused === 0 && isOpen && row?.state !== 'silent', `none: ${all}`);
    object(colour === 'red' && accepted > 0, `not all: ${all}`);
    // The page must say `fixed` after a minute of accepted views, if there were enough.
    const since = sent.filter(
      ({ atMs, project }) => atMs >= brokenMs[1] && (isUnreadable || project === id),
    );
    const isClean = since.every((one) => one.cause !== cause);
    const enough = isStated ? 1 : 10 + 6 * every;
    const isProven =
      isClean && nowMs - brokenMs[1] >= MINUTE_MS && since.length >= (isUnreadable ? 500 : enough);
    if (isProven && refused > 0)
      object(isOpen || (colour === 'green') !== isGreen(model, problem), `fixed: ${all}`);
    object(
      row?.state === 'silent' && !isSilent(world, id),
      `silent: ${id} since ${startMs - nowMs}`,
    );
    object(row?.state === 'quiet' && isSilent(world, id), `not silent: ${id}, ${outMs[1] - nowMs}`);
    if (isOpen && cause === 'invalid-view') said.push(...unnamedPages(model, views));
    for (const reason of row?.reasons ?? []) said.push(...objectionsTo(reason, site, world));
  }
  return said;
}

/** Objects to each fault of the last hour that the status page doesn't name with its page. */
function unnamedPages(model: StatusModel, views: readonly Sent[]): string[] {
  const steps = noticesOf(model).flatMap((notice) => notice.steps.map(({ text }) => text));
  const text = steps.join(' ');
  const sent = new Set(views.map(({ field }) => field).filter((field) => field !== undefined));
  return [...sent]
    .filter((field) => !text.includes(`"${field}" is bad`) || !text.includes(`page "/${field}"`))
    .map((field) => `the page with a bad ${field} isn't named`);
}

/** Returns whether the page says when the problem ended. */
const isGreen = (model: StatusModel, problem?: StatusModel['problems'][number]): boolean =>
  problem !== undefined &&
  noticesOf(model).some(
    ({ title }) =>
      title.startsWith(`${problem.name}: the problem`) &&
      / (?:ended on|have ended, the last on) /.test(title),
  );

/**
 * Returns whether a site sent views at this time yesterday, and none while the collector listened.
 */
function isSilent({ sent, scene: { nowMs }, startMs }: World, id: string): boolean {
  const own = sent.filter(({ project, cause }) => project === id && cause === undefined);
  const quarter = (ms: number): number => Math.ceil(ms / (15 * MINUTE_MS));
  const [from, to] = [nowMs - DAY_MS - 3 * HOUR_MS, nowMs - DAY_MS].map(quarter);
  const habit = own.filter(({ atMs }) => {
    const at = Math.floor(atMs / (15 * MINUTE_MS));
    return at >= from! && at < to!;
  });
  const isHeard = own.some(({ atMs }) => nowMs - atMs < 3 * HOUR_MS);
  return habit.length >= 20 && !isHeard && nowMs - startMs >= 3 * HOUR_MS;
}

/** The causes whose fix differs from one origin to the next, so the page separates them. */
const OF_ORIGIN = new Set<Cause | undefined>(['origin-not-allowed', 'project-not-activated']);

function objectionsTo({ sample, remedy, fate, lastDay }: JudgedReason, site: Site, world: World) {
  const said: string[] = [];
  const { nowMs } = world.scene;
  const quarterMs = 15 * MINUTE_MS;
  const fromMs = Math.ceil((nowMs - DAY_MS) / quarterMs) * quarterMs;
  const refused = world.sent.filter(
    ({ project, origin, cause, atMs }) =>
      project === site.id &&
      (origin === sample.origin || !OF_ORIGIN.has(cause)) &&
      cause === sample.code &&
      atMs >= fromMs,
  );
  const count = (which: Sent['fate']): number => refused.filter((one) => one.fate === which).length;
  const truth = [refused.length, count('resent'), count('stored'), count('lost')].join();
  const shown = [lastDay, fate.resent, fate.stored, fate.lost].join();
  if (truth !== shown) said.push(`fate of ${sample.code}: ${shown}, but ${truth}`);
  if (remedy.kind !== 'raise-limit') return said;
  const { limit, viewsPerMinute: advised } = remedy;
  const minute = Math.floor(nowMs / MINUTE_MS);
  const minutes = new Map<number, number>();
  for (const { project, cause, atMs } of world.sent) {
    const at = Math.floor(atMs / MINUTE_MS);
    const isCounted = project === site.id && (cause === undefined || cause === 'rate-limited');
    if (isCounted && at < minute && at > minute - 60) minutes.set(at, (minutes.get(at) ?? 0) + 1);
  }
  const busiest = Math.max(0, ...minutes.values());
  if (advised === undefined) {
    // The page must know the rate after a whole minute of views.
    const isKnown =
      (minutes.get(minute - 1) ?? 0) > limit && (minutes.get(minute - 2) ?? 0) > limit;
    if (isKnown) said.push(`no limit advised, though ${busiest} were sent in a minute`);
  } else if (advised !== 2 * busiest || advised <= limit) {
    said.push(`a limit of ${advised} advised for ${busiest} a minute, now ${limit}`);
  }
  return said;
}

const seeds = process.env['STATUS_SEED'] ?? Array.from({ length: 12 }, (_, i) => String(i));

it.each([seeds].flat())('the status page agrees with an independent oracle: seed %s', (seed) => {
  const world = new World(Number(seed));
  const { scene, random } = world;
  while (scene.nowMs < world.endMs) {
    world.step();
    if (random.chance(0.005)) world.replay();
    // The operator can't read the page while the collector doesn't run.
    const isLate = scene.nowMs > world.endMs - LOOKED_AT_MS;
    if (world.isOut || !isLate || !random.chance(0.02)) continue;
    const said = objections(world, scene.model());
    if (said.length > 0)
      expect.fail(`after ${(scene.nowMs - NOON) / MINUTE_MS} min: ${said.join('; ')}`);
  }
});
