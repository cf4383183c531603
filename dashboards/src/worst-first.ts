import { AGENT_TOOL, worstRank, worstState } from './circuit-state.ts';
import { highest } from './promql.ts';

/** A table of tools of agents, the worst first. All columns show the same rows. */
export interface WorstFirst {
  /**
   * State, the worst first: the first column, which the table is sorted by. Grafana keeps the order of rows with the same state, which the
   * first query defines.
   */
  readonly state: string;
  /** The query of another column, for the same rows. */
  readonly inTable: (expr: string) => string;
}

/** @param rows the most rows */
export const worstFirst = (rows: number): WorstFirst => ({
  state: `topk(${rows}, ${worstRank()}) * 0 + (${worstState()})`,
  inTable: (expr) => highest(expr, rows, AGENT_TOOL, worstRank()),
});
