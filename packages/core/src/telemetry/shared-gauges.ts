import type { Circuit, ReportedState } from '../circuit/circuit.ts';
import type { Clock } from '../clock.ts';
import { safely } from '../safely.ts';
import type { CircuitSpec } from '../tool.ts';
import {
  type AgentSeries,
  countCircuits,
  countUnavailable,
  noteCircuit,
  seriesOf,
  type ToolSeries,
  type UnavailableCircuits,
} from './series.ts';

/** What the shared circuits of one box add to the gauges. It refers to series only, so it keeps no box alive. */
interface Share {
  readonly agent: AgentSeries;
  readonly circuits: Map<ToolSeries, Map<ReportedState, number>>;
  readonly unavailable: UnavailableCircuits;
  events: number;
}

/**
 * The gauges of circuits that sessions share, which no session takes along when it ends (C12). When nothing refers to the box and
 * its sessions any more, such as after a hot reload, its circuits and events leave the gauges.
 */
export class SharedGauges {
  readonly #share: Share;

  constructor(agent: AgentSeries) {
    this.#share = { agent, circuits: new Map(), unavailable: new Map(), events: 0 };
    dropped?.register(this, this.#share);
  }

  /** A circuit was created or restored, or has changed its state. */
  countCircuit(tool: CircuitSpec, state: ReportedState, circuit: Circuit, clock: Clock, from?: ReportedState): void {
    const { circuits, unavailable } = this.#share;
    const states = circuits.get(tool.series) ?? new Map<ReportedState, number>();
    circuits.set(tool.series, states.set(state, (states.get(state) ?? 0) + 1));
    countCircuits(tool.series, state, 1);
    if (from !== undefined) {
      states.set(from, (states.get(from) ?? 0) - 1);
      countCircuits(tool.series, from, -1);
    }
    noteCircuit(unavailable, tool, state, circuit, clock, true);
  }

  countEvents(change: number): void {
    this.#share.events += change;
    seriesOf(this.#share.agent, 'systemicActive').value += change;
  }
}

const withdrawShare = ({ agent, circuits, unavailable, events }: Share): void => {
  for (const [tool, states] of circuits) {
    for (const [state, count] of states) if (count !== 0) countCircuits(tool, state, -count);
  }
  countUnavailable(unavailable, false);
  seriesOf(agent, 'systemicActive').value -= events;
};

/** Undefined on platforms that do not tell when an object is gone. */
const dropped =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : new FinalizationRegistry<Share>((share) => safely('the gauges of a dropped box', () => withdrawShare(share)));
