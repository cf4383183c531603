import type { HistogramSeries, NumberSeries, Reading, SharedMetric, Source } from './copies.ts';
import { countOf, type DurationCell } from './durations.ts';
import { AGENT_READINGS, type Cell, TOOL_READINGS } from './metrics.ts';
import type { ProcessState } from './process-state.ts';
import { DURATION_BUCKETS, METRIC } from './semconv.ts';

/** The metrics with plain series behind them: all but the histogram. */
export type CellMetric = keyof typeof AGENT_READINGS | keyof typeof TOOL_READINGS;

const ofAgent = AGENT_READINGS as Partial<Record<CellMetric, (typeof AGENT_READINGS)[keyof typeof AGENT_READINGS]>>;

const KEYS: ReadonlyMap<string, keyof typeof METRIC> = new Map(
  (Object.keys(METRIC) as (keyof typeof METRIC)[]).map((key) => [METRIC[key].name, key]),
);

/** The metrics that are counted here. */
const METRICS: readonly SharedMetric[] = Object.values(METRIC).map((metric) =>
  metric.kind === 'histogram' ? { ...metric, bounds: DURATION_BUCKETS } : metric,
);

type Counted = Omit<ProcessState, 'source'>;

/**
 * Every series of a metric by its OpenTelemetry name: the live series. Empty for a histogram, and for a metric that isn't counted
 * here.
 */
export function* cellsOf({ agents }: Counted, name: string): Iterable<Cell> {
  const key = KEYS.get(name);
  if (key === undefined || key === 'duration') return;
  const readAgent = ofAgent[key];
  for (const agent of agents.values()) {
    if (readAgent !== undefined) yield* readAgent(agent);
    else for (const tool of agent.tools.values()) yield* TOOL_READINGS[key as keyof typeof TOOL_READINGS](tool);
  }
}

/** Every series of the duration histogram that was kept for a reader: the live series. Empty for any other metric. */
export function* durationCellsOf({ agents }: Counted, name: string): Iterable<DurationCell> {
  if (name !== METRIC.duration.name) return;
  for (const agent of agents.values()) {
    for (const tool of agent.tools.values()) {
      for (const cell of tool.duration.values()) if (countOf(cell) > 0) yield cell;
    }
  }
}

const sinceMs = (state: Counted, name: string): number => {
  if (!KEYS.has(name)) return 0;
  return name === METRIC.duration.name ? state.durationsSinceMs : state.sinceMs;
};

/** Removes idle sessions from the gauges. */
const retireIdleOf = ({ live }: Counted): void => {
  for (const session of live) if (session.retireIfIdle()) live.delete(session);
};

const read = (state: Counted, name: string): Reading | undefined => {
  if (!KEYS.has(name)) return undefined;
  const { durations, failures } = state.exemplars;
  const withExemplar = (cell: Cell): NumberSeries => ({ ...cell, exemplar: failures.get(cell) });
  const withExemplars = (cell: DurationCell): HistogramSeries => ({ ...cell, exemplars: durations.get(cell) });
  return {
    numbers: Array.from(cellsOf(state, name), withExemplar),
    histograms: Array.from(durationCellsOf(state, name), withExemplars),
  };
};

/** The source that copies of other releases read. */
export const sourceOf = (state: Counted, readersChanged: () => void): Source => ({
  metrics: METRICS,
  read: (name) => read(state, name),
  sinceMs: (name) => sinceMs(state, name),
  retireIdle: () => retireIdleOf(state),
  readersChanged,
});
