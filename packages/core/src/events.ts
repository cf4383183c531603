import type { RecoveryCause } from './budget/recovery.ts';
import type { SystemicEvent } from './budget/systemic.ts';
import type { ReportedState } from './circuit/circuit.ts';
import type { ErrorCategory, Outcome } from './classify/taxonomy.ts';
import type { FreshnessLabel } from './freshness/freshness.ts';
import type { LimitKind, LimitMode } from './limits/limits.ts';
import type { Decision, Reason } from './reasons.ts';
import type { Degradation } from './routing/capability.ts';
import type { Route, ScopePlan } from './routing/route.ts';
import { reportThrown, safely, watchEnd } from './safely.ts';

/** The fields that every event has. */
export interface EventBase {
  readonly agent: string;
  /** The session's id. */
  readonly session: string;
  /** Unix milliseconds. */
  readonly unixMs: number;
}

/** The fallback of a call, without its content: events contain no results. */
export interface RouteSummary {
  readonly kind: Route['kind'];
  /** The name of the alternative. */
  readonly tool: string | undefined;
  /** How much the alternative loses. */
  readonly degradation: Degradation | undefined;
}

export interface DecisionEvent extends EventBase {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  /** The fallback of the call; undefined on `call` and `probe` (R2). */
  readonly route: RouteSummary | undefined;
}

export interface OutcomeEvent extends EventBase {
  readonly tool: string;
  readonly outcome: Outcome;
  /** Undefined on success. */
  readonly category: ErrorCategory | undefined;
  /** The result came back after the circuit had moved on, and changed nothing (C7). */
  readonly late: boolean;
  /** The cost of the call, if the executor reported it (O4). */
  readonly tokens: number | undefined;
  /** Why the result may not be current; undefined if it is fresh, or if the tool has no `labelFreshness` (F1). */
  readonly freshness: FreshnessLabel | undefined;
}

export interface TransitionEvent extends EventBase {
  readonly tool: string;
  readonly from: ReportedState;
  readonly to: ReportedState;
  /** The category that opened the circuit, or keeps it from closing. */
  readonly category: ErrorCategory | undefined;
  /** The circuit is only observed: this shows what would have happened, and no metric counts it (C1). */
  readonly observed: boolean;
}

export interface SystemicDetectedEvent extends EventBase {
  readonly event: SystemicEvent;
}

/**
 * How a systemic event ended: a person confirmed it, a probe succeeded (scope `process`), in a configured way, or in another process
 * of the fleet (S5).
 */
export type RecoveredBy = 'operator' | 'probe' | 'fleet' | RecoveryCause;

export interface SystemicResolvedEvent extends EventBase {
  readonly event: SystemicEvent;
  readonly by: RecoveredBy;
}

export interface BudgetExhaustedEvent extends EventBase {
  /** Number of failures that a cycle allows. */
  readonly limit: number;
  readonly cycle: number;
}

export interface BudgetResumedEvent extends EventBase {
  readonly limit: number;
  /** The cycle that begins. */
  readonly cycle: number;
}

/** A limit of the run (D2). */
export interface LimitEvent extends EventBase {
  readonly limit: LimitKind;
  /** The id of the sub-agent that has the limit; undefined for the session itself (D1). */
  readonly child: string | undefined;
  /** What is used, with the estimates of calls under way (D3). */
  readonly used: number;
  /** What is kept for the last answers of sub-agents, which counts too (D3). Left out if nothing is kept. */
  readonly kept?: number;
  readonly size: number;
  /** The currency of a limit of money; undefined for others. */
  readonly currency: string | undefined;
  /** Only `pause` stops calls. */
  readonly mode: LimitMode;
}

/** A limit was made larger, by code or by an operator. An extended child extends each session above it that has the limit. */
export interface LimitExtendedEvent extends EventBase {
  readonly limit: LimitKind;
  /** The id of the sub-agent that has the limit; undefined for the session itself. */
  readonly child: string | undefined;
  readonly from: number;
  readonly to: number;
}

/** A plan postpones tasks, or gives them to a lesser tool (W2). */
export interface ScopeReducedEvent extends EventBase {
  readonly plan: ScopePlan;
}

/** What an operator can do (A3). */
export type OperatorAction = 'resume' | 'confirm' | 'extend' | 'force_open' | 'disable' | 'observe' | 'release';

/**
 * What became of it. `stale`: the state was no longer the one that the operator had seen. `unknown`: there is no such session, limit, tool or
 * mode. `refused`: it could not be done, for example because the audit file could not be written.
 */
export type OperatorResult = 'done' | 'stale' | 'unknown' | 'refused';

/** An operator acted, or tried to (A6). */
export interface OperatorActionEvent extends Omit<EventBase, 'session'> {
  readonly action: OperatorAction;
  readonly result: OperatorResult;
  /** The tool, or `group:NAME`; undefined for an action on a session. */
  readonly tool: string | undefined;
  /** Undefined: all sessions of the box. */
  readonly session: string | undefined;
}

/** The process goes on without the fleet's store (G7), or has it again. */
export interface FleetEvent extends Omit<EventBase, 'session'> {
  /** It concerns all sessions. */
  readonly session: undefined;
  /** Why the store is not used; undefined once it is again. */
  readonly why: string | undefined;
}

/** The events that `box.on` offers. All but `decision` and `outcome` are also log events, under `breakerbox.`. */
export interface BreakerboxEvents {
  decision: DecisionEvent;
  outcome: OutcomeEvent;
  'circuit.transition': TransitionEvent;
  'systemic.detected': SystemicDetectedEvent;
  'systemic.resolved': SystemicResolvedEvent;
  'budget.exhausted': BudgetExhaustedEvent;
  'budget.resumed': BudgetResumedEvent;
  /** 80 % of a limit are used: the model is told to finish. */
  'limit.advised': LimitEvent;
  /** A limit is used up. With the mode `pause`, all calls are paused. */
  'limit.reached': LimitEvent;
  /** A limit that was reached no longer is: it was extended, or calls used less than expected. */
  'limit.lifted': LimitEvent;
  'limit.extended': LimitExtendedEvent;
  'scope.reduced': ScopeReducedEvent;
  'operator.action': OperatorActionEvent;
  'fleet.degraded': FleetEvent;
  'fleet.restored': FleetEvent;
}

const EVENTS = {
  decision: true,
  outcome: true,
  'circuit.transition': true,
  'systemic.detected': true,
  'systemic.resolved': true,
  'budget.exhausted': true,
  'budget.resumed': true,
  'limit.advised': true,
  'limit.reached': true,
  'limit.lifted': true,
  'limit.extended': true,
  'scope.reduced': true,
  'operator.action': true,
  'fleet.degraded': true,
  'fleet.restored': true,
} satisfies Record<keyof BreakerboxEvents, true>;

/** Names of all events. */
export const EVENT_NAMES = Object.keys(EVENTS) as readonly (keyof BreakerboxEvents)[];

/** Listeners by event name. */
export interface Emitter<Events extends object> {
  /** Calls `listener` for each event of that name until the returned function is called. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void;
  /** Which events have listeners, so that a caller can skip building the others. Plain flags, because every call reads two. */
  readonly heard: { readonly [Name in keyof Events]?: boolean };
  /** An error in a listener is reported and affects no one else (E5). */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void;
}

/**
 * Depth of events that listeners cause inside one another. Without a limit, a cycle of listeners would overflow the stack in the
 * middle of a decision.
 */
const DEEPEST = 50;

interface Entry {
  readonly listener: (event: never) => unknown;
  gone: boolean;
}

export const createEmitter = <Events extends object>(): Emitter<Events> => {
  /** Lists are never changed: adding or removing a listener while an event is sent makes a new list. */
  const listeners = new Map<keyof Events, readonly Entry[]>();
  const heard: { [Name in keyof Events]?: boolean } = {};
  let depth = 0;
  /** Nothing more is sent until the outermost event is done. Otherwise listeners that cause two events each would run for ever. */
  let tooDeep = false;
  const put = (name: keyof Events, entries: readonly Entry[]): void => {
    listeners.set(name, entries);
    heard[name] = entries.length > 0;
  };
  const of = (name: keyof Events): readonly Entry[] => listeners.get(name) ?? [];
  const tell = (name: keyof Events, event: unknown): void => {
    const what = `a listener of '${String(name)}'`;
    for (const entry of of(name)) {
      if (tooDeep && depth > 1) return;
      if (!entry.gone) safely(what, () => watchEnd(what, entry.listener(event as never)));
    }
  };
  return {
    heard,
    on(name, listener) {
      const entry: Entry = { listener, gone: false };
      put(name, [...of(name), entry]);
      return () => {
        entry.gone = true;
        put(
          name,
          of(name).filter((one) => one !== entry),
        );
      };
    },
    emit(name, event) {
      if (tooDeep) return;
      if (depth >= DEEPEST) {
        tooDeep = true;
        const what = `A listener causes a new event for each event, ${DEEPEST} levels deep. '${String(name)}' and later events are dropped.`;
        reportThrown(
          'a listener',
          new Error(`${what} Move the calls that cause events out of the listener, for example into setTimeout().`),
        );
        return;
      }
      depth += 1;
      try {
        tell(name, event);
      } finally {
        depth -= 1;
        if (depth === 0) tooDeep = false;
      }
    },
  };
};
