import type { Route } from '../capability/route.ts';
import { DEFAULT_JUDGEMENT, type ErrorCategory } from '../outcome/taxonomy.ts';
import { type Decision, REASONS, type Reason } from '../reasons.ts';
import type { ToolSettings } from '../tool.ts';
import {
  type AgentCells,
  attributesOf,
  type Cell,
  cell,
  createGroupCells,
  createToolCells,
  type ToolCells,
} from './cells.ts';
import { createDurationCell, type DurationCell } from './durations.ts';
import { ATTR, METRIC, MIXED_CATEGORY, OTHER_TOOL } from './semconv.ts';

export { type AgentCells, type Cell, createAgentCells, outcomeCell, type ToolCells, transitionCell } from './cells.ts';

/** The series of a name: its own while the agent has fewer than `maxTools`, otherwise those of `_OTHER`. */
const cellsNamed = (
  cells: AgentCells,
  name: string,
  maxTools: number,
  make: (agent: string, name: string) => ToolCells,
): ToolCells => {
  const known = cells.tools.get(name);
  if (known !== undefined) return known;
  const others = cells.tools.has(OTHER_TOOL) ? 1 : 0;
  const label = cells.tools.size - others < maxTools ? name : OTHER_TOOL;
  const made = cells.tools.get(label) ?? (label === name ? make : createToolCells)(cells.agent, label);
  cells.tools.set(label, made);
  return made;
};

/** The series of a tool: its own while there are fewer than `maxTools`, otherwise those of `_OTHER`. */
export const toolCells = (
  cells: AgentCells,
  tool: string,
  maxTools: number,
  judgements: ToolSettings['outcomes'] = DEFAULT_JUDGEMENT,
): ToolCells => cellsNamed(cells, tool, maxTools, (agent, name) => createToolCells(agent, name, judgements));

/** The series of a group, whose name begins with `group:`. Groups and tools share `maxTools` and `_OTHER`. */
export const groupCells = (cells: AgentCells, group: string, maxTools: number): ToolCells =>
  cellsNamed(cells, group, maxTools, createGroupCells);

/** The series of a decision. Most reasons have one decision; `systemic` pauses, or in scope `process` skips. */
export const decisionCell = (cells: ToolCells, decision: Decision, reason: Reason): Cell => {
  if (REASONS[reason] === decision) return cells.decisions[reason];
  const key = `${decision}/${reason}` as const;
  const found =
    cells.otherDecisions.get(key) ?? cell({ ...attributesOf(cells), [ATTR.decision]: decision, [ATTR.reason]: reason });
  cells.otherDecisions.set(key, found);
  return found;
};

/** The series of a systemic event; `undefined` if its circuits opened with different categories. */
export const systemicCell = (cells: AgentCells, category: ErrorCategory | undefined): Cell => {
  const key = category ?? MIXED_CATEGORY;
  const found = cells.systemicEvents.get(key) ?? cell({ [ATTR.agent]: cells.agent, [ATTR.errorType]: key });
  cells.systemicEvents.set(key, found);
  return found;
};

/** The series of the last opening with this category. */
export const openedTimeCell = (cells: ToolCells, category: ErrorCategory): Cell => {
  const found = cells.openedTime.get(category) ?? cell({ ...attributesOf(cells), [ATTR.errorType]: category });
  cells.openedTime.set(category, found);
  return found;
};

/**
 * C15: the openings of a tool are absorbed by its group's, and no longer count as openings of their own. The series stay at 0,
 * because an SDK keeps exporting the last value of a series that is no longer observed. A scrape leaves them out.
 */
export const withdrawOpened = ({ openedTime }: ToolCells): void => {
  for (const opened of openedTime.values()) opened.value = 0;
};

/** Whether a series was withdrawn by {@link withdrawOpened}. */
export const isWithdrawn = (metric: string, { value }: Pick<Cell, 'value'>): boolean =>
  value === 0 && metric === METRIC.openedTime.name;

/** Counts the fallback of a rejected call. */
export const countRoute = ({ routes }: ToolCells, route: Route): void => {
  const cell = routes.get(route.kind === 'alternative' ? `alternative:${route.degradation}` : route.kind);
  if (cell !== undefined) cell.value += 1;
};

/** O4: counts the tokens of a failed call. */
export const countWasted = ({ tokensWasted, costedFailures }: ToolCells, tokens: number): void => {
  if (tokens === 0) return;
  tokensWasted.value += tokens;
  costedFailures.value += 1;
};

/** Estimates the tokens of a skipped call as the mean of the failed ones. */
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

/** The series behind the metrics that an agent has once. */
export const AGENT_READINGS = {
  budgetLimit: (agent) => [agent.budgetLimit],
  budgetRemaining: (agent) => [agent.budgetRemaining],
  budgetConsumed: (agent) => [agent.budgetConsumed],
  budgetLow: (agent) => [agent.budgetLow],
  budgetExhaustions: (agent) => [agent.budgetExhaustions],
  sessions: (agent) => Object.values(agent.sessions),
  sessionsStarted: (agent) => [agent.sessionsStarted],
  systemicActive: (agent) => [agent.systemicActive],
  systemicEvents: (agent): Iterable<Cell> => agent.systemicEvents.values(),
  tasks: (agent) => Object.values(agent.tasks),
} as const satisfies Readonly<Record<string, (agent: AgentCells) => Iterable<Cell>>>;

const NONE: readonly Cell[] = [];

/** Skips groups, which have no such series. */
const ofTools =
  (read: (tool: ToolCells) => Iterable<Cell>) =>
  (tool: ToolCells): Iterable<Cell> =>
    tool.isGroup ? NONE : read(tool);

/** The series behind the metrics that each tool has. Iterables by name: TypeScript before 5.6 has no `MapIterator`. */
export const TOOL_READINGS = {
  decisions: ofTools((tool) => [...Object.values(tool.decisions), ...tool.otherDecisions.values()]),
  outcomes: ofTools((tool) => tool.outcomes.values()),
  transitions: (tool): Iterable<Cell> => tool.transitions.values(),
  circuits: (tool) => Object.values(tool.circuits),
  openedTime: (tool): Iterable<Cell> => tool.openedTime.values(),
  tokensWasted: ofTools((tool) => [tool.tokensWasted]),
  tokensAvoided: ofTools((tool) => [tool.tokensAvoided]),
  routes: ofTools((tool) => tool.routes.values()),
  freshness: ofTools((tool) => Object.values(tool.freshness)),
  prechecks: ofTools((tool) => Object.values(tool.prechecks)),
} as const satisfies Readonly<Record<string, (tool: ToolCells) => Iterable<Cell>>>;
