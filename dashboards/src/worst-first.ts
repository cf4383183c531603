import { AGENT_TOOL, worstState } from './circuit-state.ts';
import { highest, trouble } from './promql.ts';

/** Those that aren't closed now come before all that were open for long and are closed again. */
const worst = (): string => `1e6 * (${worstState()}) + ${trouble(AGENT_TOOL)}`;

/** A table of tools of agents, the worst first, of which all columns show the same rows. */
export interface WorstFirst {
  /**
   * State, in the order of what is worst: of the first column, by which the table is sorted. Grafana leaves rows of one state
   * as they come, and the first query says how they come.
   */
  readonly state: string;
  /** What another column asks for, of the same rows. */
  readonly inTable: (expr: string) => string;
}

/** @param rows at most so many */
export const worstFirst = (rows: number): WorstFirst => ({
  state: `topk(${rows}, ${worst()}) * 0 + (${worstState()})`,
  inTable: (expr) => highest(expr, rows, AGENT_TOOL, worst()),
});
