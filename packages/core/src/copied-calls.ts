import type { CallHistory } from './call-history.ts';
import type { Run } from './limits/run.ts';
import type { RunCall } from './limits/run-call.ts';
import type { EndingCall, SessionPermit } from './permit.ts';
import { type RunningTally, readTally } from './session-tools.ts';

/**
 * What the end of a call changes beside circuits and ledgers. Until a call ends in a look ahead, it is the session's own. From then on
 * these are copies (C11).
 */
export class CopiedCalls {
  #history: CallHistory;
  /** By their originals. Undefined until a call ends, or its lease (D3). */
  #runs: Map<Run, Run> | undefined;
  readonly #calls = new Map<RunCall<Run>, RunCall<Run>>();
  readonly #tallies = new Map<RunningTally, RunningTally>();

  constructor(history: CallHistory) {
    this.#history = history;
  }

  get history(): CallHistory {
    return this.#history;
  }

  /** A call that ends in the look ahead, with copies of all that its end changes. */
  ending(permit: SessionPermit): EndingCall {
    if (this.#tallies.size === 0) this.#history = this.#history.copy();
    this.#runs ??= new Map();
    const { entry, limits, tool, leaseUntilMs } = permit;
    const tally = this.#tallies.get(entry.tally) ?? { closed: 0, ...readTally(entry.tally) };
    this.#tallies.set(entry.tally, tally);
    const run = limits?.run.copy(this.#runs);
    return {
      ...permit,
      tool,
      leaseUntilMs,
      entry: { ...entry, tally },
      limits: limits && run && { ...limits, run, call: limits.call && this.#callOf(limits.call) },
    };
  }

  /** D3: ends the leases of calls in copies of their runs, if any are due. */
  lapse(run: Run | undefined, ms: number): void {
    for (const call of run?.lapsing(ms) ?? []) this.#callOf(call).lapse();
  }

  #callOf(call: RunCall<Run>): RunCall<Run> {
    this.#runs ??= new Map();
    const copy = this.#calls.get(call) ?? call.copy(call.run.copy(this.#runs));
    this.#calls.set(call, copy);
    return copy;
  }

  runOf(run: Run): Run {
    return this.#runs === undefined ? run : run.copy(this.#runs);
  }

  tallyOf(tally: RunningTally): RunningTally {
    return this.#tallies.get(tally) ?? tally;
  }
}
