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
import { createDurationCell, type DurationCell } from './durations.ts';
import { ATTR, MIXED_CATEGORY, OTHER_TOOL } from './semconv.ts';

/**
 * The numbers behind the metrics: plain cells that decisions add to, and that a collection reads. Counting costs a few
 * nanoseconds and works whether or not an SDK is there yet; a late SDK sees everything from the start.
 */
export interface Cell {
  readonly attributes: Attributes;
  value: number;
}

const STATES: readonly ReportedState[] = ['closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only'];
const SESSION_STATES: readonly SessionState[] = ['active', 'paused_budget', 'paused_systemic'];

/** Those that happen by themselves; others, by hand, get a cell when they happen. */
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

/** The cells of one tool of one agent. */
export interface ToolCells {
  readonly decisions: Readonly<Record<Reason, Cell>>;
  /** Grows by the outcomes that a user's own judgement brings. */
  readonly outcomes: Map<OutcomeKey, Cell>;
  readonly transitions: Map<Transition, Cell>;
  readonly circuits: Readonly<Record<ReportedState, Cell>>;
  /** Unix seconds; a category appears with its first opening. */
  readonly openedTime: Map<ErrorCategory, Cell>;
  readonly tokensWasted: Cell;
  /** Failed calls that said what they cost: for the mean that `tokensAvoided` goes by. */
  readonly costedFailures: Cell;
  readonly tokensAvoided: Cell;
  readonly routes: ReadonlyMap<RouteKey, Cell>;
  readonly freshness: Readonly<Record<FreshnessKind, Cell>>;
  readonly prechecks: Readonly<Record<Availability, Cell>>;
  /** Series of the duration histogram by category, `undefined` for success; one appears with its first call. */
  readonly duration: Map<ErrorCategory | undefined, DurationCell>;
}

/** The cells of one agent. */
export interface AgentCells {
  readonly agent: string;
  readonly tools: Map<string, ToolCells>;
  readonly budgetGranted: Cell;
  readonly budgetConsumed: Cell;
  readonly budgetExhaustions: Cell;
  readonly sessions: Readonly<Record<SessionState, Cell>>;
  readonly systemicEvents: Map<ErrorCategory | typeof MIXED_CATEGORY, Cell>;
  readonly tasks: Readonly<Record<(typeof DISPOSITIONS)[number], Cell>>;
}

const cell = (attributes: Attributes): Cell => ({ attributes, value: 0 });

const record = <K extends string>(keys: readonly K[], make: (key: K) => Cell): Record<K, Cell> =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, Cell>;

/** All of an agent's cells, at zero. */
export const createAgentCells = (agent: string): AgentCells => {
  const base = { [ATTR.agent]: agent };
  const categories = [
    ...ERROR_CATEGORIES.filter((one) => DEFAULT_JUDGEMENT[one] === 'failure'),
    MIXED_CATEGORY,
  ] as const;
  return {
    agent,
    tools: new Map(),
    budgetGranted: cell(base),
    budgetConsumed: cell(base),
    budgetExhaustions: cell(base),
    sessions: record(SESSION_STATES, (state) => cell({ ...base, [ATTR.sessionState]: state })),
    systemicEvents: new Map(categories.map((one) => [one, cell({ ...base, [ATTR.errorType]: one })])),
    tasks: record(DISPOSITIONS, (one) => cell({ ...base, [ATTR.disposition]: one })),
  };
};

/** The cells of a tool: its own while there are fewer than `maxTools`, else those of `_OTHER`. */
export const toolCells = (
  cells: AgentCells,
  tool: string,
  maxTools: number,
  judgements: ToolSettings['outcomes'] = DEFAULT_JUDGEMENT,
): ToolCells => {
  const known = cells.tools.get(tool);
  if (known !== undefined) return known;
  const others = cells.tools.has(OTHER_TOOL) ? 1 : 0;
  const label = cells.tools.size - others < maxTools ? tool : OTHER_TOOL;
  const made = cells.tools.get(label) ?? createToolCells(cells.agent, label, judgements);
  cells.tools.set(label, made);
  return made;
};

const createToolCells = (agent: string, tool: string, judgements: ToolSettings['outcomes']): ToolCells => {
  const base = { [ATTR.agent]: agent, [ATTR.tool]: tool };
  const reasons = Object.entries(REASONS) as [Reason, Decision][];
  const made: ToolCells = {
    decisions: Object.fromEntries(
      reasons.map(([reason, decision]) => [
        reason,
        cell({ ...base, [ATTR.decision]: decision, [ATTR.reason]: reason }),
      ]),
    ) as Record<Reason, Cell>,
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

const attributesOf = (cells: ToolCells): Attributes => {
  const { [ATTR.agent]: agent, [ATTR.tool]: tool } = cells.circuits.closed.attributes;
  return { [ATTR.agent]: agent, [ATTR.tool]: tool };
};

/** The cell of an outcome. */
export const outcomeCell = (cells: ToolCells, outcome: Outcome, category: ErrorCategory | undefined): Cell => {
  const key = outcome === 'success' || category === undefined ? 'success' : (`${outcome}:${category}` as const);
  let found = cells.outcomes.get(key);
  if (found === undefined) {
    found = cell({ ...attributesOf(cells), [ATTR.outcome]: outcome, ...(category && { [ATTR.errorType]: category }) });
    cells.outcomes.set(key, found);
  }
  return found;
};

/** The cell of a change of state. */
export const transitionCell = (cells: ToolCells, from: ReportedState, to: ReportedState): Cell => {
  const key: Transition = `${from}>${to}`;
  const found =
    cells.transitions.get(key) ?? cell({ ...attributesOf(cells), [ATTR.stateFrom]: from, [ATTR.stateTo]: to });
  cells.transitions.set(key, found);
  return found;
};

/** The cell of a systemic event; `undefined` where its circuits opened with different categories. */
export const systemicCell = (cells: AgentCells, category: ErrorCategory | undefined): Cell => {
  const key = category ?? MIXED_CATEGORY;
  const found = cells.systemicEvents.get(key) ?? cell({ [ATTR.agent]: cells.agent, [ATTR.errorType]: key });
  cells.systemicEvents.set(key, found);
  return found;
};

/** The cell of the last opening with this category. */
export const openedTimeCell = (cells: ToolCells, category: ErrorCategory): Cell => {
  const found = cells.openedTime.get(category) ?? cell({ ...attributesOf(cells), [ATTR.errorType]: category });
  cells.openedTime.set(category, found);
  return found;
};

/** A held-up call was sent somewhere. */
export const countRoute = ({ routes }: ToolCells, route: Route): void => {
  const cell = routes.get(route.kind === 'alternative' ? `alternative:${route.degradation}` : route.kind);
  if (cell !== undefined) cell.value += 1;
};

/** O4: a failed call cost so many tokens. */
export const countWasted = ({ tokensWasted, costedFailures }: ToolCells, tokens: number): void => {
  if (tokens === 0) return;
  tokensWasted.value += tokens;
  costedFailures.value += 1;
};

/** A skipped call would have cost what the failed ones did on average: an estimate. */
export const countAvoided = ({ tokensWasted, costedFailures, tokensAvoided }: ToolCells): void => {
  if (costedFailures.value > 0) tokensAvoided.value += Math.round(tokensWasted.value / costedFailures.value);
};

/** The series of a duration. */
export const durationCell = (cells: ToolCells, category: ErrorCategory | undefined): DurationCell => {
  let found = cells.duration.get(category);
  if (found === undefined) {
    found = createDurationCell({ ...attributesOf(cells), ...(category && { [ATTR.errorType]: category }) });
    cells.duration.set(category, found);
  }
  return found;
};

/** Which cells stand behind the metrics that an agent has one series of. */
export const AGENT_READINGS = {
  budgetGranted: (agent) => [agent.budgetGranted],
  budgetConsumed: (agent) => [agent.budgetConsumed],
  budgetExhaustions: (agent) => [agent.budgetExhaustions],
  sessions: (agent) => Object.values(agent.sessions),
  systemicEvents: (agent): Iterable<Cell> => agent.systemicEvents.values(),
  tasks: (agent) => Object.values(agent.tasks),
} as const satisfies Readonly<Record<string, (agent: AgentCells) => Iterable<Cell>>>;

/** Which cells stand behind the metrics that each tool has series of. Iterables by name: TypeScript before 5.6 knows no `MapIterator`. */
export const TOOL_READINGS = {
  decisions: (tool) => Object.values(tool.decisions),
  outcomes: (tool): Iterable<Cell> => tool.outcomes.values(),
  transitions: (tool): Iterable<Cell> => tool.transitions.values(),
  circuits: (tool) => Object.values(tool.circuits),
  openedTime: (tool): Iterable<Cell> => tool.openedTime.values(),
  tokensWasted: (tool) => [tool.tokensWasted],
  tokensAvoided: (tool) => [tool.tokensAvoided],
  routes: (tool): Iterable<Cell> => tool.routes.values(),
  freshness: (tool) => Object.values(tool.freshness),
  prechecks: (tool) => Object.values(tool.prechecks),
} as const satisfies Readonly<Record<string, (tool: ToolCells) => Iterable<Cell>>>;
