import type { ReportedState } from '../circuit/circuit.ts';
import { systemClock } from '../clock.ts';
import { safely } from '../safely.ts';
import { type AgentSeries, countCircuits, seriesOf, type ToolSeries } from './series.ts';

/** What the shared circuits of one box add to the gauges. It refers to series only, so it keeps no box alive. */
interface Share {
  readonly agent: AgentSeries;
  readonly circuits: Map<ToolSeries, Map<ReportedState, number>>;
  events: number;
}

/**
 * The gauges of circuits that sessions share, which no session takes along when it ends (C12). When nothing refers to the box and
 * its sessions any more, such as after a hot reload, its circuits and events leave the gauges.
 */
export class SharedGauges {
  readonly #share: Share;

  constructor(agent: AgentSeries) {
    this.#share = { agent, circuits: new Map(), events: 0 };
    dropped?.register(this, this.#share);
  }

  /** Counts circuits of a tool that enter a state, or leave it if `change` is negative. `unixNow` gives milliseconds. */
  countCircuits(tool: ToolSeries, state: ReportedState, change: number, clock: { unixNow(): number }): void {
    const { circuits } = this.#share;
    const states = circuits.get(tool) ?? new Map<ReportedState, number>();
    circuits.set(tool, states.set(state, (states.get(state) ?? 0) + change));
    countCircuits(tool, state, change, clock);
  }

  countEvents(change: number): void {
    this.#share.events += change;
    seriesOf(this.#share.agent, 'systemicActive').value += change;
  }
}

const withdrawShare = ({ agent, circuits, events }: Share): void => {
  for (const [tool, states] of circuits) {
    for (const [state, count] of states) if (count !== 0) countCircuits(tool, state, -count, systemClock);
  }
  seriesOf(agent, 'systemicActive').value -= events;
};

/** Undefined on platforms that do not tell when an object is gone. */
const dropped =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : new FinalizationRegistry<Share>((share) => safely('the gauges of a dropped box', () => withdrawShare(share)));
