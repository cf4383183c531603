import type { Attributes } from '@opentelemetry/api';
import { DEGRADATIONS, type Degradation } from '../capability/map.ts';
import type { Route } from '../capability/route.ts';
import type { ReportedState } from '../circuit/mode.ts';
import { FRESHNESS_KINDS, type FreshnessKind } from '../freshness.ts';
import type { SessionState } from '../ledger.ts';
import { DEFAULT_JUDGEMENT, ERROR_CATEGORIES, type ErrorCategory, type Outcome } from '../outcome/taxonomy.ts';
import { AVAILABILITIES, type Availability } from '../precheck.ts';
import { type Decision, REASONS, type Reason } from '../reasons.ts';
import type { ToolSettings } from '../tool.ts';
import type { DurationCell } from './durations.ts';
import { ATTR, MIXED_CATEGORY } from './semconv.ts';

/**
 * The numbers behind the metrics: plain series that decisions add to and that a collection reads. Counting takes a few nanoseconds
 * and works even before there is an SDK; a late SDK sees everything from the start.
 */
export interface Cell {
  readonly attributes: Attributes;
  value: number;
}

const STATES: readonly ReportedState[] = ['closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only'];
const SESSION_STATES: readonly SessionState[] = ['active', 'paused_budget', 'paused_systemic'];

/** Transitions that happen by themselves. Transitions by hand get a series when they happen. */
const TRANSITIONS: readonly (readonly [ReportedState, ReportedState])[] = [
  ['closed', 'open'],
  ['open', 'half_open'],
  ['half_open', 'open'],
  ['half_open', 'closed'],
];
type Transition = `${ReportedState}>${ReportedState}`;

type RouteKey = Exclude<Route['kind'], 'alternative'> | `alternative:${Degradation}`;

const DISPOSITIONS = ['achievable', 'deferred'] as const;

type OutcomeKey = 'success' | `${Exclude<Outcome, 'success'>}:${ErrorCategory}`;

/** The series of one tool of one agent. */
export interface ToolCells {
  /** The circuit of a group has a state but no calls: only `circuits`, `transitions` and `openedTime` are exported. */
  readonly isGroup: boolean;
  /** Each reason with its usual decision. Other pairs are in `otherDecisions`: see {@link decisionCell}. */
  readonly decisions: Readonly<Record<Reason, Cell>>;
  /** A reason with an unusual decision. A pair appears with its first use. */
  readonly otherDecisions: Map<`${Decision}/${Reason}`, Cell>;
  /** Grows with outcomes from a user's own judgement. */
  readonly outcomes: Map<OutcomeKey, Cell>;
  readonly transitions: Map<Transition, Cell>;
  readonly circuits: Readonly<Record<ReportedState, Cell>>;
  /** Unix seconds; a category appears with its first opening. */
  readonly openedTime: Map<ErrorCategory, Cell>;
  readonly tokensWasted: Cell;
  /** Failed calls that reported their cost, for the mean behind `tokensAvoided`. */
  readonly costedFailures: Cell;
  readonly tokensAvoided: Cell;
  readonly routes: ReadonlyMap<RouteKey, Cell>;
  readonly freshness: Readonly<Record<FreshnessKind, Cell>>;
  readonly prechecks: Readonly<Record<Availability, Cell>>;
  /** Series of the duration histogram by category, `undefined` for success; one appears with its first call. */
  readonly duration: Map<ErrorCategory | undefined, DurationCell>;
}

/** The series of one agent. */
export interface AgentCells {
  readonly agent: string;
  readonly tools: Map<string, ToolCells>;
  readonly budgetLimit: Cell;
  readonly budgetRemaining: Cell;
  readonly budgetConsumed: Cell;
  readonly budgetLow: Cell;
  readonly budgetExhaustions: Cell;
  readonly sessions: Readonly<Record<SessionState, Cell>>;
  readonly sessionsStarted: Cell;
  readonly systemicActive: Cell;
  readonly systemicEvents: Map<ErrorCategory | typeof MIXED_CATEGORY, Cell>;
  readonly tasks: Readonly<Record<(typeof DISPOSITIONS)[number], Cell>>;
}

/** A series at zero. */
export const cell = (attributes: Attributes): Cell => ({ attributes, value: 0 });

const record = <K extends string>(keys: readonly K[], make: (key: K) => Cell): Record<K, Cell> =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, Cell>;

/** All series of an agent, at zero. */
export const createAgentCells = (agent: string): AgentCells => {
  const base = { [ATTR.agent]: agent };
  const categories = [
    ...ERROR_CATEGORIES.filter((one) => DEFAULT_JUDGEMENT[one] === 'failure'),
    MIXED_CATEGORY,
  ] as const;
  return {
    agent,
    tools: new Map(),
    budgetLimit: cell(base),
    budgetRemaining: cell(base),
    budgetConsumed: cell(base),
    budgetLow: cell(base),
    budgetExhaustions: cell(base),
    sessions: record(SESSION_STATES, (state) => cell({ ...base, [ATTR.sessionState]: state })),
    sessionsStarted: cell(base),
    systemicActive: cell(base),
    systemicEvents: new Map(categories.map((one) => [one, cell({ ...base, [ATTR.errorType]: one })])),
    tasks: record(DISPOSITIONS, (one) => cell({ ...base, [ATTR.disposition]: one })),
  };
};

/** All series of a tool, at zero. */
export const createToolCells = (
  agent: string,
  tool: string,
  judgements: ToolSettings['outcomes'] = DEFAULT_JUDGEMENT,
): ToolCells => {
  const base = { [ATTR.agent]: agent, [ATTR.tool]: tool };
  const reasons = Object.entries(REASONS) as [Reason, Decision][];
  const made: ToolCells = {
    isGroup: false,
    decisions: Object.fromEntries(
      reasons.map(([reason, decision]) => [
        reason,
        cell({ ...base, [ATTR.decision]: decision, [ATTR.reason]: reason }),
      ]),
    ) as Record<Reason, Cell>,
    otherDecisions: new Map(),
    outcomes: new Map(),
    transitions: new Map(),
    circuits: record(STATES, (state) => cell({ ...base, [ATTR.state]: state })),
    openedTime: new Map(),
    tokensWasted: cell(base),
    costedFailures: cell(base),
    tokensAvoided: cell(base),
    routes: new Map<RouteKey, Cell>([
      ...DEGRADATIONS.map((one): [RouteKey, Cell] => [
        `alternative:${one}`,
        cell({ ...base, [ATTR.route]: 'alternative', [ATTR.degradation]: one }),
      ]),
      ...(['manual', 'defer', 'stale'] as const).map((kind): [RouteKey, Cell] => [
        kind,
        cell({ ...base, [ATTR.route]: kind }),
      ]),
    ]),
    freshness: record(FRESHNESS_KINDS, (kind) => cell({ ...base, [ATTR.freshnessLabel]: kind })),
    prechecks: record(AVAILABILITIES, (one) => cell({ ...base, [ATTR.availability]: one })),
    duration: new Map(),
  };
  for (const [from, to] of TRANSITIONS) transitionCell(made, from, to);
  outcomeCell(made, 'success', undefined);
  for (const category of ERROR_CATEGORIES) outcomeCell(made, judgements[category], category);
  return made;
};

/** The states of a group's circuit. A mode has a series from its first use. */
const GROUP_STATES: readonly ReportedState[] = ['closed', 'open', 'half_open'];

/** All series of a group, at zero. */
export const createGroupCells = (agent: string, group: string): ToolCells => {
  const base = { [ATTR.agent]: agent, [ATTR.tool]: group };
  const made: ToolCells = {
    ...createToolCells(agent, group),
    isGroup: true,
    transitions: new Map(),
    circuits: recordWithLazyKeys(STATES, GROUP_STATES, (state) => cell({ ...base, [ATTR.state]: state })),
  };
  transitionCell(made, 'closed', 'open');
  return made;
};

/** A record that has some of its keys from the start. Each other key appears when it is first read. */
const recordWithLazyKeys = <K extends string>(
  keys: readonly K[],
  atOnce: readonly K[],
  make: (key: K) => Cell,
): Record<K, Cell> => {
  const made = {} as Record<K, Cell>;
  for (const key of keys) {
    const get = (): Cell => {
      const value = make(key);
      Object.defineProperty(made, key, { value, enumerable: true });
      return value;
    };
    Object.defineProperty(made, key, { get, enumerable: false, configurable: true });
  }
  for (const key of atOnce) void made[key];
  return made;
};

/** The attributes that all series of a tool have. */
export const attributesOf = (cells: ToolCells): Attributes => {
  const { [ATTR.agent]: agent, [ATTR.tool]: tool } = cells.circuits.closed.attributes;
  return { [ATTR.agent]: agent, [ATTR.tool]: tool };
};

/** The series of an outcome. */
export const outcomeCell = (cells: ToolCells, outcome: Outcome, category: ErrorCategory | undefined): Cell => {
  const key = outcome === 'success' || category === undefined ? 'success' : (`${outcome}:${category}` as const);
  let found = cells.outcomes.get(key);
  if (found === undefined) {
    found = cell({ ...attributesOf(cells), [ATTR.outcome]: outcome, ...(category && { [ATTR.errorType]: category }) });
    cells.outcomes.set(key, found);
  }
  return found;
};

/** The series of a change of state. */
export const transitionCell = (cells: ToolCells, from: ReportedState, to: ReportedState): Cell => {
  const key: Transition = `${from}>${to}`;
  const found =
    cells.transitions.get(key) ?? cell({ ...attributesOf(cells), [ATTR.stateFrom]: from, [ATTR.stateTo]: to });
  cells.transitions.set(key, found);
  return found;
};
