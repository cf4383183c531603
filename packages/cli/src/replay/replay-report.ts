import type { GridReport } from './grid.ts';
import type { ModelOpening, ModelReport, ModelsReplay } from './model-replay.ts';
import {
  addOutcomes,
  noOutcomes,
  type Opening,
  type OutcomeCounts,
  type Pause,
  REJECTERS,
  type ReachedLimit,
  type RejectedCounts,
  type Rejecter,
  type ToolTally,
  totalOf,
} from './rejections.ts';
import type { FileReport, Recording } from './replay.ts';
import { type Bounds, boundsOf } from './replay-totals.ts';
import type { ReplayConfig } from './simulation-observer.ts';
import type { Parity, SimulationTally } from './simulation-tally.ts';

/** The settings to use: those that `--grid` recommends, otherwise the replayed ones. */
export const settingsOf = ({ grid, config }: ReplayReport): ReplayConfig => grid?.recommended ?? config;

/** What `breakerbox replay --json` prints. */
export interface ReplayReport {
  readonly version: 1;
  /** The settings that were replayed, over the defaults. */
  readonly config: ReplayConfig;
  readonly recording: {
    readonly files: readonly FileReport[];
    readonly sessions: number;
    readonly calls: number;
    readonly steps: number;
    /** That calls of tools and of models have used, as far as the recording says so. */
    readonly tokens: number;
    readonly cost: number;
    readonly from: string | undefined;
    readonly to: string | undefined;
    /** Events before an earlier one of their session, and ends without a start. */
    readonly misplaced: number;
    /** Calls by their recorded outcome. */
    readonly outcomes: OutcomeCounts;
    /** Failures whose text gave the classifier no evidence. */
    readonly unjudged: number;
  };
  /** Why nothing was decided, such as a sampled recording (T4). Then the fields below are left out. */
  readonly refused?: readonly string[];
  readonly decisions?: Decisions;
  /** With `--grid`. */
  readonly grid?: GridReport;
  /** If the recording has calls of models: what `guardModels` would have done. */
  readonly models?: {
    readonly models: readonly ModelReport[];
    /** The first 5,000. */
    readonly openings: readonly (Omit<ModelOpening, 'openedAtMs' | 'closedAtMs'> & {
      readonly from: string;
      readonly to?: string;
    })[];
    /** Calls above 500,000, which are left out. */
    readonly leftOut: number;
  };
  /** With `--show`: texts that the classifier could not judge, each after its tool, with their number of calls. */
  readonly unjudgedTexts?: Readonly<Record<string, number>>;
}

/** What the engine would have decided. */
export interface Decisions {
  /** Sessions in which at least one decision differs from the recording. */
  readonly changedSessions: number;
  /** Those in which it was not only by the loop guard or a limit. */
  readonly sessionsOfFailures: number;
  readonly tools: readonly ToolReport[];
  /** All rejected calls, by what rejected them. */
  readonly rejected: Readonly<Record<Rejecter, RejectedCounts>>;
  /** Calls into broken tools that would not have been made. `atMost` holds if the agents had gone on in the same way (T3). */
  readonly failedCallsAvoided: Bounds;
  /** Calls that had succeeded and would have been rejected. Never read one without the other. */
  readonly goodCallsLost: Bounds;
  /** The first 5,000. */
  readonly openings: readonly (Omit<Opening, 'openedAtMs' | 'closedAtMs'> & {
    readonly from: string;
    readonly to?: string;
  })[];
  /** The first 5,000. */
  readonly pauses: readonly (Omit<Pause, 'atMs'> & { readonly at: string })[];
  /** How many pauses there are, by their cause. */
  readonly pausedBy: SimulationTally['pausedBy'];
  /** Limits that would have been reached (D2). The first 5,000. */
  readonly limits: readonly (Omit<ReachedLimit, 'atMs'> & { readonly at: string })[];
  /** How many there are. */
  readonly limitsReached: number;
  /** If the recording is of agents that Breakerbox guarded: how the decisions compare (T8). */
  readonly parity?: Parity;
}

/** One row of the table. */
export interface ToolReport extends Omit<ToolTally, 'rejected'> {
  readonly failedCallsAvoided: Bounds;
  readonly goodCallsLost: Bounds;
  readonly rejected: ToolTally['rejected'];
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Makes the report of one simulation. */
export const replayReport = (
  recording: Recording,
  config: ReplayConfig,
  tally: SimulationTally,
  allowIncomplete: boolean,
): ReplayReport => {
  const tools = [...tally.tools.values()];
  const outcomes = noOutcomes();
  for (const { calls } of tools) addOutcomes(outcomes, calls);
  const unjudged = tools.reduce((sum, tool) => sum + tool.unjudged, 0);
  const { files, sessions, calls, steps, tokens, cost, firstMs, lastMs, misplaced } = recording;
  const [from, to] = [firstMs, lastMs].map((ms) => (ms === undefined ? undefined : iso(ms)));
  const refused = allowIncomplete
    ? []
    : files.flatMap(({ path, incomplete }) => incomplete.map((why) => `${path}: ${why}`));
  return {
    version: 1,
    config,
    recording: { files, sessions, calls, steps, tokens, cost, from, to, misplaced, outcomes, unjudged },
    ...(refused.length > 0 ? { refused } : { decisions: decisionsOf(tools, tally) }),
  };
};

const MOST_OPENINGS = 5_000;

/** What `guardModels` would have done; undefined for a recording without calls of models. */
export const modelsReport = ({ models, openings }: ModelsReplay, leftOut: number): ReplayReport['models'] =>
  models.length === 0
    ? undefined
    : {
        models,
        leftOut,
        openings: openings.slice(0, MOST_OPENINGS).map(({ openedAtMs, closedAtMs, ...opening }) => ({
          ...opening,
          from: iso(openedAtMs),
          ...(closedAtMs !== undefined && { to: iso(closedAtMs) }),
        })),
      };

const decisionsOf = (tools: readonly ToolTally[], tally: SimulationTally): Decisions => {
  const rejected = Object.fromEntries(
    REJECTERS.map((by) => {
      const sum: RejectedCounts = { measured: noOutcomes(), modelled: noOutcomes() };
      for (const tool of tools) {
        addOutcomes(sum.measured, tool.rejected[by].measured);
        addOutcomes(sum.modelled, tool.rejected[by].modelled);
      }
      return [by, sum];
    }),
  ) as Record<Rejecter, RejectedCounts>;
  const { openings, pauses, pausedBy, limits, limitsReached, parity, changedSessions, sessionsOfFailures } = tally;
  return {
    changedSessions,
    sessionsOfFailures,
    tools: tools
      .map((tool) => ({
        ...tool,
        failedCallsAvoided: boundsOf(tool.rejected, 'failure'),
        goodCallsLost: boundsOf(tool.rejected, 'success'),
      }))
      .sort((one, other) => other.openings - one.openings || totalOf(other.calls) - totalOf(one.calls)),
    rejected,
    failedCallsAvoided: boundsOf(rejected, 'failure'),
    goodCallsLost: boundsOf(rejected, 'success'),
    openings: openings.map(({ openedAtMs, closedAtMs, ...opening }) => ({
      ...opening,
      from: iso(openedAtMs),
      ...(closedAtMs !== undefined && { to: iso(closedAtMs) }),
    })),
    pauses: pauses.map(({ atMs, ...pause }) => ({ ...pause, at: iso(atMs) })),
    pausedBy,
    limits: limits.map(({ atMs, ...limit }) => ({ ...limit, at: iso(atMs) })),
    limitsReached,
    ...(parity.compared + parity.notCompared > 0 && { parity }),
  };
};
