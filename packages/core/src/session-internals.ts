import type { Context } from '@opentelemetry/api';
import type { BoxContext } from './box-context.ts';
import { BreakerboxUsageError, show } from './checks/checks.ts';
import type { Moment } from './clock.ts';
import type { BreakerboxConfig, RestoreOptions, ToolConfig } from './config/config.ts';
import type { Decider } from './engine/decide.ts';
import type { ExtendedLimit, Spent, Usage } from './limits/limit-view.ts';
import type { LimitKind } from './limits/limits.ts';
import type { Run } from './limits/run.ts';
import type { Circle } from './loop-guard/circles.ts';
import type { Permit } from './permit.ts';
import type { ScopePlan } from './routing/route.ts';
import { read, safely } from './safely.ts';
import type { AcquireOptions, ChildOptions, Session } from './session-api.ts';
import type { SessionMemory } from './session-memory.ts';
import type { LookAhead, SessionViews } from './session-views.ts';

/** Makes a plan for a run: of the session, or of a child (D1). */
export type PlanMaker = (decider: Decider, at: Moment, run: Run | undefined) => ScopePlan;

/**
 * What a session offers to the functions over it: reports, snapshots and plans. Not part of the public API. They are methods under their own
 * names, and hidden by the type of `Session` alone, because `report(session)` of another copy of this package has to find them.
 */
export interface SessionInternals {
  readonly box: BoxContext;
  /** Monotonic ms. */
  readonly beganMs: number;
  /** Changes nothing (C11). */
  lookAhead(): LookAhead;
  /** The circles in which the agent went (D5). */
  readonly circles: readonly Circle[];
  /** What the run uses; undefined without limits (D2). */
  readonly run: Run | undefined;
  /** What the run uses has changed, other than by a call of the session: its limits are looked at (D7). */
  runChanged(run: Run): void;
  /** D7: the metrics count it. */
  countSpent(spent: Spent): void;
  /** The session of this run: itself, or the root of its tree (D1). */
  readonly root: TreeRoot;
  /** The latest plan, for reports (W2). */
  readonly plan: ScopePlan | undefined;
  /** Catches up with the time, asks `make` for a plan, and counts and reports it (W1). */
  makePlan(make: PlanMaker, run?: Run | undefined): ScopePlan;
  /** M5: ends a pause of the budget whose time is over. Gives when it ends, in monotonic ms; undefined without one. */
  endPause(): number | undefined;
  /** C13: the next call of a tool of the group is its probe, if the group's circuit is open. */
  groupReturned(group: string): void;
  /** A snapshot was taken: the session may go on in another process. */
  wasKept(): void;
}

/** The session at the root of a tree, which decides for its children too (D1). */
export interface TreeRoot extends Session, SessionInternals {
  /** A child decides about a call (D1). */
  acquireFor(run: Run, tool: string, options: AcquireOptions | undefined): Permit;
  /** D2: a limit of a run of the tree is made larger. */
  extendFor(run: Run | undefined, limit: LimitKind, by: number): readonly ExtendedLimit[];
  /** A child ends a step. */
  stepOf(run: Run | undefined): void;
  /** What it says about itself and its children. */
  readonly views: SessionViews;
  childFor(run: Run, options: ChildOptions): Session;
  spendFor(run: Run | undefined, usage: Usage): void;
  /** A child has begun. */
  childBegan(run: Run): void;
  /** A child has ended. */
  childEnded(run: Run): void;
  contextFor(run: Run): Context;
}

/** What the functions over a box need: `restore`. Not part of the public API. */
export interface BoxInternals {
  readonly context: BoxContext;
  /** `scope` of the configuration. */
  readonly scope: 'session' | 'process' | 'none';
  /** The box's own copy. New sessions and new tools read it. */
  readonly config: BreakerboxConfig;
  /** If these are the models of a box (L2): that box. */
  readonly modelsOf?: object;
  /** Gives a tool checked settings, in place of those that it has. */
  put(tool: string, config: ToolConfig): void;
  /** Continues a session that was kept (C11). */
  continueSession(
    id: string,
    memory: SessionMemory,
    run: Run | undefined,
    options: Omit<RestoreOptions, 'elapsedMs'>,
  ): Session;
}

/** Functions to call with each box that is made. */
type Listeners = Set<(box: never) => void>;

/** Increased with each change of {@link BoxInternals} or of {@link BoxContext}: copies of another shape can't read these boxes. */
export const BOX_SHAPE = 1;

/**
 * On globalThis, so that a function of one copy of this package reads a box of another, and a listener hears of it. The internals are whole,
 * because those functions do all of their work in their own copy: `reconfigure` puts settings, `shareCircuits` and `operate` change overrides
 * in the context, and `restore` reads the configuration.
 */
const BOXES = Symbol.for(`@breakerbox/core:boxes:${BOX_SHAPE}`);
const LISTENERS = Symbol.for('@breakerbox/core:made-boxes');
const globals = globalThis as { [BOXES]?: WeakMap<object, BoxInternals>; [LISTENERS]?: Listeners };

/** The listeners of this process. */
export const boxListeners = (): Listeners => {
  globals[LISTENERS] ??= new Set();
  return globals[LISTENERS];
};

/** The models of a box were made (L2). They are a box for its fleet, and for nothing else. */
export const registerModels = (models: object, internals: BoxInternals): void => {
  globals[BOXES] ??= new WeakMap();
  globals[BOXES].set(models, internals);
};

/** A box was made: its listeners are told. */
export const registerBox = (box: object, internals: BoxInternals): void => {
  registerModels(box, internals);
  for (const listener of globals[LISTENERS] ?? []) safely('a listener for new boxes', () => listener(box as never));
};

/**
 * A session that `createBreakerbox` made, as the functions over a session read it. `call` is the public function that asks.
 *
 * @throws BreakerboxUsageError if the value is not such a session.
 */
export const sessionInternals = (session: Session, call: string): SessionInternals => {
  if (typeof read(session, 'lookAhead') === 'function') return session as Session & SessionInternals;
  throw new BreakerboxUsageError(`${call}: ${show(session)} is not a session. Give what box.session() returns.`);
};

/**
 * The internals of a box that `createBreakerbox` made. `call` is the public function that asks.
 *
 * @throws BreakerboxUsageError if the value is not such a box.
 */
export const boxInternals = (box: object, call: string): BoxInternals => {
  const internals = globals[BOXES]?.get(box);
  if (internals !== undefined) return internals;
  throw new BreakerboxUsageError(
    `${call}: ${show(box)} is not a box. Give what createBreakerbox() returns. If it is one, another version of @breakerbox/core made it: install one version.`,
  );
};

/**
 * Ends a pause of the budget once its oldest charge has left the window, for a session that no code resumes (M5). The other charges still
 * count.
 *
 * @returns when the pause ends, on the clock of the box in milliseconds. Undefined if the budget does not pause the session, or by the rule
 *   `strict`.
 */
export const endPause = (session: Session): number | undefined => sessionInternals(session, 'endPause()').endPause();

/**
 * The server of a group has come back: it was started again, or has begun another session. If the group's circuit is open, the next call of
 * one of its tools is the probe (C13). A `Retry-After` and a fleet's order still hold.
 */
export const groupReturned = (session: Session, group: string): void =>
  sessionInternals(session, 'groupReturned()').groupReturned(group);
