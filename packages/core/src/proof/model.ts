import type {
  Availability,
  Blamed,
  BreakerboxConfig,
  CircuitMode,
  Decision,
  ErrorCategory,
  Outcome,
  Reason,
  SessionOptions,
} from '../index.ts';
import type { Budget } from './model-budget.ts';
import type { ModelCircuit, ModelKey } from './model-circuit.ts';
import { type Correlation, newCorrelation } from './model-correlation.ts';
import type { Wish } from './model-wish.ts';
import {
  type BudgetRules,
  budgetRulesOf,
  groupRulesOf,
  type Rules,
  rulesOf,
  type SystemicRules,
  systemicRulesOf,
  type When,
} from './rules.ts';

/** O8: an unexplained error of a tool: its text, and the input of the session that it came for. */
export interface Mystery {
  readonly text: string;
  readonly ofTool: boolean;
  readonly input: string;
}

/**
 * The reference model of the engine: behaviour.md put into plain code over mutable objects, for clarity and not for speed.
 * It shares no code with the engine. The proof compares what the two say, call by call.
 */
export interface Model {
  readonly config: BreakerboxConfig;
  readonly undeclared: Rules;
  readonly systemic: SystemicRules | undefined;
  readonly budget: BudgetRules;
  ms: number;
  permits: number;
  /** Openings and failures that correlation has seen. */
  seen: number;
  readonly sessions: ModelSession[];
  /** What listeners have been told. */
  readonly told: string[];
  /** What the metrics have counted, by name and attributes. */
  readonly counted: Map<string, number>;
  /** O4: what the failed calls of each tool have cost, as far as their executors said so. */
  readonly costs: Map<string, { readonly tokens: number; readonly calls: number }>;
  /** K1: what checks would say now. */
  readonly health: Map<string, Availability>;
  /** O5; undefined where repeated calls are not counted. */
  readonly repeats: number | undefined;
}

/** One box of possibly many processes. */
export interface ModelBox {
  readonly tools: Map<string, Rules>;
  /** C13: the group of each tool that has one. */
  readonly groups: Map<string, string>;
  readonly groupRules: Map<string, Rules>;
  /** K3: what the pre-call checks have said, and when. */
  readonly scores: Map<string, { readonly availability: Availability; readonly ms: number }>;
  /** A3: what operators force now, in any session. */
  forced: readonly ModelForced[];
  /** G1: what the fleet wants of each circuit. */
  readonly wishes: Map<string, Wish>;
  /** O8: tools that have ever succeeded, and the errors of the others that nothing explains. */
  readonly succeeded: Set<string>;
  readonly unexplained: Map<string, readonly Mystery[]>;
  /** B5: false where the budget alone counts. */
  readonly keepsCircuits: boolean;
  /** C12: the circuits that all of its sessions share. */
  readonly shared: ModelHome | undefined;
}

/** A mode of an operator, until it expires (A4). */
export interface ModelForced {
  readonly tool: string;
  readonly owner: string;
  readonly mode: CircuitMode;
  readonly untilMs: number;
}

/** Where circuits are kept: with a session, or with its box (C12). */
export interface ModelHome {
  /** In the order of their first use. */
  readonly circuits: ModelCircuit[];
  /** C14: of the keys that calls had. */
  keys: ModelKey[];
  /** C14: by tool, the generation with which the circuit of a key begins; none while no key of the tool was blamed. */
  readonly keyGenerations: Map<string, number>;
  /** Probes that have not settled. */
  probes: ModelPermit[];
  /** C17: calls that count against a limit, each by the tool and the group. */
  underWay: { readonly id: number; readonly name: string; readonly untilMs: number }[];
  /** S1: of what decides. */
  readonly real: Correlation;
  /** C1: what it would be if the observed tools counted. */
  dryRun: Correlation | undefined;
  /** C12: the steps of all sessions together, and when the last was; undefined for a session's own circuits. */
  readonly steps: { step: number; ms: number } | undefined;
  /** The latest event that was the fleet's. */
  fleetEvent: number | undefined;
  /** G8: when the latest event of the fleet ended. What opened before proves nothing any more. */
  fleetEndedMs: number;
}

export interface ModelSession {
  readonly id: string;
  readonly box: ModelBox;
  step: number;
  stepMs: number;
  /** B1: calls that were settled. */
  calls: number;
  /** E7: false from its end on until it is asked for a decision again. */
  live: boolean;
  readonly home: ModelHome;
  /** C11: restored, and not declared yet. */
  kept: ModelCircuit[];
  /** Pauses the session. */
  readonly real: Budget;
  /** C1: what would pause it if the observed tools counted. */
  dryRun: Budget | undefined;
  /** What another process has counted of this session before it was restored. */
  readonly consumedBefore: number;
  /** What the gauges show: as it was after the session's last use. */
  shown: Shown;
  /** It has fallen to 1 left or less, and has not had the limit left since. */
  low: boolean;
  /** O5: for each tool, the calls that had the same result one after the other. */
  loops: Loop[];
  /** D5: the latest calls with their results, and the circles that were found. */
  latest: readonly string[];
  circles: readonly string[];
  /** D2. */
  run: ModelRun;
  /** C18. */
  readonly tools: OwnTools;
}

/** C18: settings of tools that a session has of its own. */
export type OwnTools = NonNullable<SessionOptions['tools']>;

/** D2 to D4: what a session has used of its limits. */
export interface ModelRun {
  /** When the session began. */
  readonly ms: number;
  calls: number;
  /** With the one under way. */
  steps: number;
  /** D2: a step has begun, by a call, and has not ended. */
  inStep: boolean;
  /** D2: `step()` comes before each turn; undefined until it has come. */
  isBefore: boolean | undefined;
  /** Of calls that are over. */
  tokens: number;
  /** Of calls under way, by their permits. */
  expected: readonly { readonly id: number; readonly tokens: number; readonly ms: number; readonly isTold: boolean }[];
  /** What the calls of a tool have used, the latest last, since the first that used anything. */
  readonly reports: Map<string, readonly number[]>;
  /** The level of each limit as it was told last, and the levels that were told once. */
  levels: { readonly [limit: string]: string | undefined };
}

/** What a session contributes to the gauges while it is live. */
export interface Shown {
  readonly state: 'active' | 'paused_budget' | 'paused_systemic' | 'paused_limit';
  readonly remaining: number;
  readonly event: boolean;
}

export interface Loop {
  readonly tool: string;
  readonly input: string;
  readonly way: string;
  readonly times: number;
}

/** A circuit that let a call through, as it was then. */
export interface Layer {
  readonly circuit: ModelCircuit;
  /** C7. */
  readonly generation: number;
  /** C6: the call is one of its probes. */
  readonly holdsSlot: boolean;
}

export interface ModelPermit {
  readonly id: number;
  readonly session: ModelSession;
  readonly tool: string;
  readonly input: string | undefined;
  readonly decision: Decision;
  readonly reason: Reason;
  readonly circuit: ModelCircuit | undefined;
  /** Under which name it is counted. */
  readonly series: string;
  readonly groupName: string | undefined;
  /** The circuit of its group, if the call counts there (C13). */
  readonly group: Layer | undefined;
  /** Undefined where no circuit let the call through. */
  readonly own: Layer | undefined;
  /** The circuit of its key (C14). */
  readonly key: Layer | undefined;
  readonly keyName: string | undefined;
  /** C14: its tool was set to have no keys. */
  readonly isKeyless: boolean;
  /** S5: the circuit around an event, if the call is its probe. */
  readonly gate: Layer | undefined;
  /** C9; undefined unless the call holds a slot. */
  leaseMs: number | undefined;
  settled: boolean;
  /** D5: it has completed a circle. */
  circle: boolean;
  /** R5: why the next call would be rejected, if this one has failed. */
  advice: Reason | undefined;
}

/** O1: the result of a call. */
export interface Ended {
  readonly outcome: Outcome;
  readonly category?: ErrorCategory;
  readonly retryAfterMs?: number;
  /** O4. */
  readonly tokens?: number;
  /** What it returned, in words of its own. */
  readonly result?: string;
  /** C13, C14. */
  readonly blames?: Blamed;
  /** O8: a digest of its text, if nothing explains it, and whether it is about the tool itself. */
  readonly unexplained?: { readonly digest: string; readonly ofTool?: boolean };
  /** C14: the peer has said that it cannot do this. */
  readonly answered?: boolean;
}

export const newModel = (config: BreakerboxConfig, costs: Model['costs'], health: Model['health']): Model => ({
  config,
  undeclared: rulesOf(config.defaults ?? {}, 'automatic'),
  systemic: systemicRulesOf(config.systemic, config.scope),
  budget: budgetRulesOf(config.budget),
  ms: 0,
  permits: 0,
  seen: 0,
  sessions: [],
  told: [],
  counted: new Map(),
  costs,
  health,
  repeats: config.loopGuard === false ? undefined : (config.loopGuard?.repeats ?? 3),
});

export const newBox = ({ config, undeclared }: Model): ModelBox => {
  const tools = Object.entries(config.tools ?? {});
  return {
    tools: new Map(tools.map(([tool, own]) => [tool, rulesOf(own, undeclared.mode, config.scope)])),
    groups: new Map(tools.flatMap(([tool, { group }]) => (group ? [[tool, group]] : []))),
    groupRules: new Map(
      Object.entries(config.groups ?? {}).map(([group, own]) => [
        group,
        groupRulesOf(own, undeclared.mode, config.scope),
      ]),
    ),
    scores: new Map(),
    forced: [],
    wishes: new Map(),
    succeeded: new Set(),
    unexplained: new Map(),
    keepsCircuits: config.scope !== 'none',
    shared: config.scope === 'process' ? { ...newHome(), steps: { step: 0, ms: 0 } } : undefined,
  };
};

export const newHome = (): ModelHome => ({
  circuits: [],
  keys: [],
  keyGenerations: new Map(),
  probes: [],
  underWay: [],
  real: newCorrelation(),
  dryRun: undefined,
  steps: undefined,
  fleetEvent: undefined,
  fleetEndedMs: Number.NEGATIVE_INFINITY,
});

export const count = ({ counted }: Model, key: string, by = 1): void =>
  void counted.set(key, (counted.get(key) ?? 0) + by);

export const flush = (model: Model, session: ModelSession, ...what: unknown[]): void =>
  void model.told.push([session.id, ...what].join(' '));

/** The moment of a session. */
export const now = (model: Model, { step, calls }: ModelSession): When => ({ ms: model.ms, step, calls });

/** The moment that circuits go by: where they are shared, with the steps of all. */
export const circuitNow = ({ ms }: Model, { home, step, stepMs }: ModelSession) => ({
  when: { ms, step: home.steps?.step ?? step },
  stepMs: home.steps?.ms ?? stepMs,
});
