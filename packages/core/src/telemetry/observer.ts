import type { Report } from '../engine/reports.ts';
import type { Judged } from '../outcome.ts';
import type { SessionPermit } from '../permit.ts';
import type { ScopePlan } from '../routing/route.ts';
import type { AcquireOptions } from '../session-api.ts';

/** What a session reports while it decides and settles. It asks an observer nothing: decisions are the same without one. */
export interface SessionObserver {
  /** The session is in use at `ms` (monotonic). `decides`: a decision follows. */
  used(ms: number, decides: boolean): void;
  /** A decision was made in a step of the session. `permit` may be given a span. */
  decided(permit: SessionPermit, options: AcquireOptions | undefined, step: number): void;
  /** A call is over. `late`: its circuit has moved on, so the result changes no circuit and no budget (C7). */
  concluded(permit: SessionPermit, judged: Judged, late: boolean, durationMs: number): void;
  /** Circuits or ledgers have changed. */
  changed(report: Report): void;
  /** Tasks were planned (W2). */
  planned(plan: ScopePlan): void;
  /** A snapshot was taken. */
  wasKept(): void;
  /** The run is over. */
  ended(): void;
  /** The state of the session is complete: listeners and log may now get the events. */
  flush(): void;
}
