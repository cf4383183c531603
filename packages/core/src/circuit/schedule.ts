import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { CircuitPolicy } from './policy.ts';
import type { Trip } from './trip-policies/trip-policies.ts';

/** What a circuit that isn't closed knows of its failure. */
export interface Outage {
  readonly category: ErrorCategory;
  /** What opened it; undefined only if a snapshot doesn't say. */
  readonly trip?: Trip | undefined;
  /** The latest opening, by failure or by failed probe. */
  readonly openedAt: Moment;
  /** Cooldown of this round (P2). */
  readonly waitMs: number;
  /** No probe before this monotonic ms; 0 for none (O3). */
  readonly notBeforeMs: number;
  /** Where this round's wait began, if not with the opening: the end of a systemic event (P3). */
  readonly waitFrom?: Moment | undefined;
  /** The place of this round's wait in `probeAfterSteps` (P1). Left out for the first one, and if steps don't count. */
  readonly rung?: number | undefined;
  /** Its place on the ladder since a systemic event was over. The ladder replaces the rung (P3). */
  readonly ladder?: Ladder | undefined;
  /** The tool whose probe failed last, if another tool must probe next (C15). */
  readonly probedBy?: string | undefined;
  /** When a probe may go, if a fleet decides that (G4). Then nothing else of the schedule counts. */
  readonly held?: Held | undefined;
}

/** When a probe of a circuit that many processes share may go: from the first moment on, and before the second (G4). Monotonic ms. */
export interface Held {
  readonly fromMs: number;
  /** Infinity: the fleet's circuit is closed. A probe that fails then makes the own schedule count again (G5). */
  readonly untilMs: number;
}

/** G4: no probe may go from this process. */
export const NEVER: Held = { fromMs: 0, untilMs: 0 };

/** P3: how a circuit probes by steps once a systemic event is over. */
export interface Ladder {
  /** The least number of steps that this round waits; 0 before the first one. */
  readonly rung: number;
  /** The step on which its probe is due. It is later than the rung says if other probes are due on that step. */
  readonly dueStep: number;
}

/** The tool that asks for a probe, because several tools may probe a group's circuit. */
export interface Asking {
  readonly tool: string;
  /** The tool's own. */
  readonly policy: CircuitPolicy;
}

/** The wait until the next probe: by steps or by time, the one that is reached first, but never before `notBeforeMs`. */
export interface ProbeWait {
  /** Steps left, if the schedule counts steps. */
  readonly steps?: number;
  /** Milliseconds left. If the schedule counts steps alone, of the longest time that they may take (P1). */
  readonly ms?: number;
  /** Milliseconds left of a Retry-After; 0 for none (O3). */
  readonly notBeforeMs: number;
}

/**
 * P1: the wait until a probe is due. All numbers are 0 or less once it is due. With `asking`, for a probe of that tool.
 */
export const probeWait = (outage: Outage, policy: CircuitPolicy, at: Moment, asking?: Asking): ProbeWait => {
  if (outage.held !== undefined) return { ms: heldLeft(outage, outage.held, at), notBeforeMs: 0 };
  const now = momentFor(outage, at, asking);
  const steps = stepsLeft(outage, policy, now);
  return {
    ...(steps !== undefined && { steps }),
    ms: msLeft(outage, policy, now),
    notBeforeMs: notBeforeLeft(outage, at),
  };
};

/** Whether a probe may go now. With `asking`, a probe of that tool (C15). */
export const probeDue = (outage: Outage, policy: CircuitPolicy, at: Moment, asking?: Asking): boolean => {
  if (outage.held !== undefined) return isWithin(outage.held, at);
  if (notBeforeLeft(outage, at) > 0) return false;
  const now = momentFor(outage, at, asking);
  return (stepsLeft(outage, policy, now) ?? 1) <= 0 || msLeft(outage, policy, now) <= 0;
};

/** Whether the fleet lets a probe go now (G4). */
export const isWithin = ({ fromMs, untilMs }: Held, { ms }: Moment): boolean => fromMs <= ms && ms < untilMs;

/** At least a second, for the fleet to say who probes, once its wait is over by this process's clock. */
const heldLeft = ({ openedAt, waitMs }: Outage, held: Held, at: Moment): number =>
  isWithin(held, at) ? 0 : Math.max(1_000, (held.fromMs > at.ms ? held.fromMs : openedAt.ms + waitMs) - at.ms);

/**
 * C15: the tool whose probe failed waits longer than the others, by its own wait, so that another tool probes first. The schedule alone
 * is asked about this moment: a Retry-After ends by the real clock.
 */
const momentFor = ({ probedBy }: Outage, at: Moment, asking: Asking | undefined): Moment => {
  if (asking === undefined || asking.tool !== probedBy) return at;
  const { cooldownMs, probeAfterSteps } = asking.policy;
  return { ms: at.ms - cooldownMs, step: at.step - probeAfterSteps[0], stepMs: at.stepMs };
};

/** 0 means that there is no Retry-After. It is not a moment: a clock may show less than 0. */
const notBeforeLeft = ({ notBeforeMs }: Outage, { ms }: Moment): number =>
  notBeforeMs === 0 ? 0 : Math.max(0, notBeforeMs - ms);

const stepsLeft = (outage: Outage, policy: CircuitPolicy, at: Moment): number | undefined => {
  const due = dueStep(outage, policy);
  return due === undefined ? undefined : due - at.step;
};

const msLeft = (outage: Outage, { schedule, maxCooldownMs }: CircuitPolicy, at: Moment): number => {
  const { ms } = outage.waitFrom ?? outage.openedAt;
  // In `auto`, time counts only while the steps do not advance: an agent that stops stepping still gets its probe.
  const since = schedule === 'auto' ? Math.max(ms, at.stepMs) : ms;
  const dueMs = schedule === 'steps' ? Number.POSITIVE_INFINITY : since + outage.waitMs;
  // P1: steps may take any time, so that a wait by steps has a limit by time.
  return (schedule === 'time' ? dueMs : Math.min(dueMs, ms + maxCooldownMs)) - at.ms;
};

/** Whether steps bring a probe nearer (P1). */
export const countsSteps = ({ schedule }: CircuitPolicy): boolean => schedule !== 'time';

/** The step on which an open circuit's probe is due; undefined if the schedule counts time alone. */
export const dueStep = (outage: Outage, policy: CircuitPolicy): number | undefined => {
  if (!countsSteps(policy)) return undefined;
  return outage.ladder?.dueStep ?? (outage.waitFrom ?? outage.openedAt).step + stepsOf(outage, policy);
};

/** The outage as if its wait were over. What later waits depend on stays. */
export const dueOutage = (outage: Outage, policy: CircuitPolicy, at: Moment): Outage => ({
  ...outage,
  probedBy: undefined,
  waitFrom: { ...at, ms: at.ms - outage.waitMs, step: at.step - stepsOf(outage, policy) },
  ...(outage.ladder && { ladder: { ...outage.ladder, dueStep: at.step } }),
});

/** P1: how many steps this round waits. A rung may come from a longer list, by a snapshot or before a change of the settings. */
const stepsOf = ({ rung = 0 }: Outage, { probeAfterSteps }: CircuitPolicy): number =>
  probeAfterSteps[Math.min(rung, probeAfterSteps.length - 1)] ?? probeAfterSteps[0];

/** P3: the highest rung of the ladder, unless its first rung is higher. */
const TOP_RUNG = 20;

/** P3: from the first rung, or after a failed probe from the next one, to a step on which no other tool probes. */
export const climb = (
  ladder: Ladder | undefined,
  policy: CircuitPolicy,
  at: Moment,
  freeFrom: (step: number) => number = anyStep,
): Ladder | undefined => {
  if (!countsSteps(policy)) return undefined;
  const below = ladder?.rung ?? 0;
  const rung = below === 0 ? policy.probeAfterSteps[0] : Math.max(below, Math.min(below * 2, TOP_RUNG));
  return { rung, dueStep: freeFrom(at.step + rung) };
};

const anyStep = (step: number): number => step;

/** How other circuits affect this one's next wait. */
export interface Surroundings {
  /** The longest wait by time: this tool's share of the total wait of its `dependsOn` chain (P4). */
  readonly capMs?: number | undefined;
  /** The first step, at or after the given one, on which no other tool probes (P3). */
  readonly freeFrom?: ((step: number) => number) | undefined;
}

/** From closed to open: the wait is not doubled (P2). */
export const firstOutage = (
  trip: Trip,
  category: ErrorCategory,
  notBeforeMs: number,
  { cooldownMs }: CircuitPolicy,
  at: Moment,
  { capMs = Number.POSITIVE_INFINITY }: Surroundings,
): Outage => ({ category, trip, openedAt: at, waitMs: Math.min(cooldownMs, capMs), notBeforeMs });

/**
 * After a failed probe: the wait by time doubles (P2), and the wait by steps is the next one, of its own or of the ladder.
 * A circuit that prefers other tools remembers which tool probed. If a fleet holds the circuit, the fleet decides about the next
 * probe too.
 */
export const nextOutage = (
  { waitMs, rung = 0, ladder, held }: Outage,
  { category, tool }: { readonly category: ErrorCategory; readonly tool?: string | undefined },
  notBeforeMs: number,
  policy: CircuitPolicy,
  at: Moment,
  { capMs = Number.POSITIVE_INFINITY, freeFrom }: Surroundings,
): Outage => ({
  category,
  trip: 'probe',
  openedAt: at,
  waitMs: Math.min(waitMs * 2, policy.maxCooldownMs, capMs),
  notBeforeMs,
  ...(countsSteps(policy) && { rung: Math.min(rung + 1, policy.probeAfterSteps.length - 1) }),
  ...(ladder && { ladder: climb(ladder, policy, at, freeFrom) }),
  ...(policy.prefersOthers && { probedBy: tool }),
  ...(held && held.untilMs < Number.POSITIVE_INFINITY && { held: NEVER }),
});

/**
 * P3: steps, some of which are taken, because a tool probes on them. Each taken step points to a later one, and a search shortens the path that it took. Finding a
 * step for each of n tools therefore takes about n operations, not n for each taken step.
 */
export const freeSteps = (taken: Iterable<number>) => {
  /** Points from a taken step to a later one. All steps between the two are taken. */
  const later = new Map<number, number>();

  /** The first free step at or after this one. */
  const from = (step: number): number => {
    let free = step;
    for (let next = later.get(free); next !== undefined; next = later.get(free)) free = next;
    let passed = step;
    while (passed !== free) {
      const next = later.get(passed) ?? free;
      later.set(passed, free);
      passed = next;
    }
    return free;
  };

  const take = (step: number): void => {
    later.set(step, step + 1);
  };

  for (const step of taken) take(step);
  return { from, take };
};
