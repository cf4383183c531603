import type { SessionState } from '../budget/ledger.ts';
import { type Clock, isFailing } from '../clock.ts';
import type { NamedSession } from '../mistakes.ts';
import { safely } from '../safely.ts';
import { enlist, type LiveSession } from './otel-binding.ts';
import { type AgentSeries, seriesOf } from './series.ts';

/** What a session adds to the gauges, beside its circuits. */
export interface GaugeShare {
  readonly series: AgentSeries;
  readonly state: SessionState;
  readonly limit: number;
  readonly remaining: number;
}

export const countSession = ({ series, state, limit, remaining }: GaugeShare, change: 1 | -1): void => {
  seriesOf(series, 'sessions', state).value += change;
  seriesOf(series, 'budgetLimit').value += change * limit;
  seriesOf(series, 'budgetRemaining').value += change * remaining;
};

export interface LastUse {
  readonly clock: Clock;
  readonly idleMs: number;
  readonly lastUsedMs: number;
}

/** Whether the session was not used for its idle time. If its clock throws, the idle time is unknown: it returns when it is used again. */
export const idles = ({ clock, idleMs, lastUsedMs }: LastUse): boolean => {
  const ms = safely('the clock of a session', () => clock.now());
  return isFailing(clock) || ms === undefined || ms - lastUsedMs >= idleMs;
};

/** Counts a session that the program has dropped until it is idle. It refers to series only, so it keeps no box alive (C12). */
export const countUntilIdle = (share: GaugeShare, use: LastUse, named: NamedSession | undefined): void =>
  enlist({
    retireIfIdle: () => {
      const isIdle = idles(use);
      if (isIdle) countSession(share, -1);
      if (isIdle) named?.left();
      return isIdle;
    },
  });

/** Undefined on platforms that do not tell when an object is gone. The registry must not keep what it tells: that refers to the session. */
const gone =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : new FinalizationRegistry<WeakRef<DroppedListener>>((ref) =>
        safely('a dropped session', () => ref.deref()?.dropped()),
      );

interface DroppedListener {
  dropped(): void;
}

/** Tells the telemetry of a session when nothing refers to the session any more. */
export const watchDropped = (session: object, telemetry: DroppedListener & LiveSession): void =>
  gone?.register(session, new WeakRef(telemetry));
