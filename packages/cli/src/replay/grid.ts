import { type ReplayTotals, totalsOf } from './replay-totals.ts';
import type { ReplayConfig, SimulationObserver } from './simulation-observer.ts';
import { tallySimulation } from './simulation-tally.ts';

/** The settings that are tried: every combination. */
const THRESHOLDS: readonly number[] = [2, 3, 4, 5, 8];
const COOLDOWNS_MS: readonly number[] = [30_000, 60_000, 120_000];
const DEFAULTS = { failureThreshold: 3, cooldownMs: 60_000, probeAfterSteps: 3 };

/**
 * Failures, and sessions and hours with failures, that each half needs before its figures mean anything. Both halves may see the same
 * incident, so without the hours a setting could be chosen and confirmed by one.
 */
const LEAST = { failures: 30, failedSessions: 5, failedHours: 3 } as const;
/** A setting has to be better by this share in both halves. Less may be chance. */
const BETTER = 0.1;

/** What the grid changes. */
interface Setting {
  readonly failureThreshold: number;
  readonly cooldownMs: number;
}

/** One setting of the grid, with its figures in both halves of the sessions. */
export interface GridRow extends Setting {
  readonly tuning: ReplayTotals;
  readonly heldOut: ReplayTotals;
}

/** What the grid says (T5). */
export interface GridReport {
  readonly rows: readonly GridRow[];
  /** The settings to use instead; undefined if the recording supports no change. */
  readonly recommended: ReplayConfig | undefined;
  /** Why it is recommended, or why nothing is. */
  readonly why: string;
}

interface Candidate extends Setting {
  readonly config: ReplayConfig;
  readonly observer: SimulationObserver;
  close(): readonly [ReplayTotals, ReplayTotals];
}

/** Half of the sessions is held out: by their ids, so that an incident is in both halves. */
const isHeldOut = (session: string): boolean => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < session.length; index += 1) {
    hash = Math.imul(hash ^ session.charCodeAt(index), 0x01000193);
  }
  return ((hash ^ (hash >>> 15)) & 1) === 1;
};

/** The current settings, with what is changed. Only what changes is set, because a cooldown alone ends probing by steps (P1). */
const configWith = (config: ReplayConfig, now: Setting, next: Setting): ReplayConfig => {
  const { defaults = {} } = config;
  const hasSteps = defaults.probeAfterSteps !== undefined || defaults.cooldownMs === undefined;
  const probing = {
    cooldownMs: next.cooldownMs,
    ...(hasSteps && { probeAfterSteps: defaults.probeAfterSteps ?? DEFAULTS.probeAfterSteps }),
  };
  return {
    ...config,
    defaults: {
      ...defaults,
      ...(next.failureThreshold !== now.failureThreshold && { failureThreshold: next.failureThreshold }),
      ...(next.cooldownMs !== now.cooldownMs && probing),
    },
  };
};

/** The simulations of a grid over a configuration. */
export const gridOf = (config: ReplayConfig): { readonly simulations: readonly Candidate[]; close(): GridReport } => {
  const isShared = config.scope === 'process';
  const { failureThreshold: threshold, cooldownMs = DEFAULTS.cooldownMs } = config.defaults ?? {};
  const now: Setting = { failureThreshold: threshold || DEFAULTS.failureThreshold, cooldownMs };
  const settings = [...new Set([now.failureThreshold, ...THRESHOLDS])].flatMap((failureThreshold) =>
    [...new Set([now.cooldownMs, ...COOLDOWNS_MS])].map(
      (cooldown): Setting => ({ failureThreshold, cooldownMs: cooldown }),
    ),
  );
  const simulations = settings.map((setting): Candidate => {
    const [tuning, heldOut] = [tallySimulation(isShared), tallySimulation(isShared)];
    const half = (session: string) => (isHeldOut(session) ? heldOut : tuning).observer;
    return {
      ...setting,
      config: configWith(config, now, setting),
      observer: {
        decided: (call) => half(call.session).decided(call),
        ended: (call, judged) => half(call.session).ended(call, judged),
        moved: (session, ...rest) => half(session).moved(session, ...rest),
        paused: (session, ...rest) => half(session).paused(session, ...rest),
        reached: (session, ...rest) => half(session).reached(session, ...rest),
      },
      close: () => [totalsOf(tuning.close()), totalsOf(heldOut.close())],
    };
  });
  return {
    simulations,
    close: () => {
      const rows = simulations.map(({ failureThreshold, cooldownMs: cooldown, close }): GridRow => {
        const [tuning, heldOut] = close();
        return { failureThreshold, cooldownMs: cooldown, tuning, heldOut };
      });
      const impossible = cannotCompare(config);
      if (impossible !== undefined) return { rows, recommended: undefined, why: impossible };
      return recommend(rows, now, (next) => configWith(config, now, next));
    },
  };
};

/** Settings whose halves or thresholds cannot be compared. */
const cannotCompare = ({ scope, defaults = {} }: ReplayConfig): string | undefined => {
  if (scope === 'process')
    return 'With scope: process, all sessions share their circuits, so they cannot be split into two halves to compare. Use --grid with scope: session.';
  if (defaults.profile !== undefined)
    return 'defaults.profile sets the thresholds that --grid changes. Set failureThreshold and cooldownMs instead of profile.';
  if (defaults.failureThreshold === false)
    return 'defaults.failureThreshold is false, so --grid has no threshold to change. Set it to a number, such as 3.';
  return undefined;
};

const recommend = (rows: readonly GridRow[], now: Setting, configOf: (next: Setting) => ReplayConfig): GridReport => {
  const none = (why: string): GridReport => ({ rows, recommended: undefined, why });
  const change = (row: GridRow): number =>
    Math.abs(Math.log2(row.failureThreshold / now.failureThreshold)) +
    Math.abs(Math.log2(row.cooldownMs / now.cooldownMs));
  const sorted = rows.toSorted((one, other) => change(one) - change(other));
  const [base] = sorted;
  if (!base) return none('The grid is empty.');
  for (const [name, half] of [
    ['tuning', base.tuning],
    ['held-out', base.heldOut],
  ] as const) {
    const { failures, failedSessions, failedHours } = half;
    if (failures >= LEAST.failures && failedSessions >= LEAST.failedSessions && failedHours >= LEAST.failedHours)
      continue;
    return none(
      `Failures of the ${name} half: ${failures}. Sessions with failures: ${failedSessions}. Hours with failures: ${failedHours}. Each half needs at least ${LEAST.failures} failures, ${LEAST.failedSessions} such sessions and ${LEAST.failedHours} such hours, because settings that suit one incident may not suit the next. Record more runs.`,
    );
  }
  const found = sorted.find((row) => isBetter(row.tuning, base.tuning) && isBetter(row.heldOut, base.heldOut));
  if (!found) return none('No other setting is better in both halves of the sessions. Keep the current one.');
  const { heldOut } = found;
  return {
    rows,
    recommended: configOf(found),
    why:
      `In the held-out half it avoids up to ${heldOut.avoided} failed calls instead of ${base.heldOut.avoided}, ` +
      `and loses up to ${heldOut.lost} good calls instead of ${base.heldOut.lost}. It is the smallest change that is better in both halves.`,
  };
};

/** Not worse in anything, and clearly better in something. */
const isBetter = (row: ReplayTotals, base: ReplayTotals): boolean => {
  if (row.lost > base.lost || row.falseOpenings > base.falseOpenings) return false;
  if (row.avoided < base.avoided || row.pauses > base.pauses) return false;
  return row.avoided > base.avoided * (1 + BETTER) || row.lost < base.lost * (1 - BETTER);
};
