import type { Context } from '@opentelemetry/api';
import type { BoxContext } from './box-context.ts';
import { BreakerboxUsageError } from './checks/checks.ts';
import type { CircuitMode } from './circuit/circuit.ts';
import { validateChild } from './config/validation.ts';
import { childOf } from './limits/children.ts';
import type { ExtendedLimit, Spent, Usage } from './limits/limit-view.ts';
import type { LimitKind } from './limits/limits.ts';
import type { Run } from './limits/run.ts';
import type { Circle } from './loop-guard/circles.ts';
import { type Permit, SessionPermit } from './permit.ts';
import type { ScopePlan } from './routing/route.ts';
import type { AcquireOptions, ChildOptions, DeclareOptions, Session } from './session-api.ts';
import type { PlanMaker, SessionInternals, TreeRoot } from './session-internals.ts';
import type { LookAhead } from './session-views.ts';
import type { CircuitView, Explanation, SessionView } from './view.ts';

/** The run that a call counts for, among the options of the call. */
export const RUN = Symbol('run');

export interface RunOptions extends AcquireOptions {
  readonly [RUN]?: Run;
}

/** D1: the session of a sub-agent. */
export const beginChild = (root: TreeRoot, run: Run, options: ChildOptions, box: BoxContext, ms: number): Session => {
  validateChild(options);
  const { id = crypto.randomUUID(), name, portion = 'all', call } = options;
  const begin = (): Session => {
    const known = run.payer.children.find((one) => one.id === id);
    if (known !== undefined) return new ChildSession(root, known);
    const child = childOf(run, { id, name, portion }, box.tree, ms);
    root.childBegan(child);
    return new ChildSession(root, child);
  };
  const above = call instanceof SessionPermit ? call.limits?.call : undefined;
  return above === undefined ? begin() : above.containing(begin);
};

/**
 * The session of a sub-agent: a run of its own, with the circuits, the failure budget and the telemetry of the root (D1). The root decides, and
 * is told whose run it is.
 */
class ChildSession implements Session, SessionInternals {
  readonly #root: TreeRoot;
  readonly run: Run;

  constructor(root: TreeRoot, run: Run) {
    this.#root = root;
    this.run = run;
  }

  get id(): string {
    return this.run.id;
  }

  get agent(): string {
    return this.#root.agent;
  }

  get context(): Context {
    return this.#root.contextFor(this.run);
  }

  acquire(tool: string, options?: AcquireOptions): Permit {
    return this.#root.acquireFor(this.run, tool, options);
  }

  declare(tool: string, options?: DeclareOptions): void {
    this.#root.declare(tool, options);
  }

  step(): void {
    this.#root.stepOf(this.run);
  }

  child(options: ChildOptions = {}): Session {
    return this.#root.childFor(this.run, options);
  }

  spend(usage: Usage): void {
    this.#root.spendFor(this.run, usage);
  }

  extend(limit: LimitKind, by: number): readonly ExtendedLimit[] {
    return this.#root.extendFor(this.run, limit, by);
  }

  resume(): void {
    this.#root.resume();
  }

  beginTask(): void {
    this.#root.beginTask();
  }

  confirmRecovered(): void {
    this.#root.confirmRecovered();
  }

  control(tool: string, mode: CircuitMode): void {
    this.#root.control(tool, mode);
  }

  note(): string {
    return this.#root.views.note(this.run);
  }

  unavailable(): readonly string[] {
    return this.#root.views.unavailable(this.run);
  }

  explain(tool: string, input?: unknown): Explanation {
    return this.#root.views.explain(this.run, tool, input);
  }

  peek(tool: string, input?: unknown): CircuitView | undefined {
    return this.#root.peek(tool, input);
  }

  view(): SessionView {
    return this.#root.views.view(this.id, this.run);
  }

  end(): void {
    this.run.end();
    this.#root.childEnded(this.run);
  }

  // What functions over sessions use: the root has all of it.

  get root(): TreeRoot {
    return this.#root;
  }

  get box(): BoxContext {
    return this.#root.box;
  }

  get beganMs(): number {
    return this.run.beganMs;
  }

  get plan(): ScopePlan | undefined {
    return this.#root.plan;
  }

  lookAhead(): LookAhead {
    return this.#root.lookAhead();
  }

  get circles(): readonly Circle[] {
    return this.#root.circles;
  }

  makePlan(make: PlanMaker): ScopePlan {
    return this.#root.makePlan(make, this.run);
  }

  endPause(): number | undefined {
    return this.#root.endPause();
  }

  groupReturned(group: string): void {
    this.#root.groupReturned(group);
  }

  runChanged(run: Run): void {
    this.#root.runChanged(run);
  }

  countSpent(spent: Spent): void {
    this.#root.countSpent(spent);
  }

  wasKept(): void {
    throw new BreakerboxUsageError(
      `snapshot(session): session '${this.id}' is a child. Take the snapshot of the session that began the tree: it holds the children.`,
    );
  }
}
