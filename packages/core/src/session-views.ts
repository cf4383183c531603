import type { BoxContext } from './box-context.ts';
import { createBudget } from './budget/budget.ts';
import { type LedgerPair, withLimits } from './budget/ledger.ts';
import { byHost, keyOf } from './circuit/key-circuits.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import { type CircuitStore, circuitMoment, copyStore } from './circuit-store.ts';
import type { Moment } from './clock.ts';
import { CopiedCalls } from './copied-calls.ts';
import { type Engine, NO_CALL } from './engine/barrier.ts';
import { answer, lapseOf, leave } from './engine/barrier-lists.ts';
import { Decider } from './engine/decide.ts';
import { FailureLedgers } from './failure-ledgers.ts';
import type { LimitView } from './limits/limit-view.ts';
import { pausesRun, type Run } from './limits/run.ts';
import { PendingChanges } from './pending-changes.ts';
import type { SessionPermit } from './permit.ts';
import type { LapseHandler } from './probes-under-way.ts';
import { adviceOf } from './routing/limit-text.ts';
import { isForNow, noteText, type RejectionFacts } from './routing/message.ts';
import { freshMemory } from './session-memory.ts';
import type { RunningTally, SessionTools, ToolTally } from './session-tools.ts';
import {
  type CircuitView,
  type Explanation,
  explanationOf,
  type SessionView,
  viewBudget,
  viewCircuit,
  viewCircuits,
} from './view.ts';

/** The state that the next decision would find, worked out on copies (C11). */
export interface LookAhead {
  readonly store: CircuitStore;
  readonly ledgers: FailureLedgers;
  readonly circuits: CircuitRegistry;
  readonly decider: Decider;
  readonly at: Moment;
  /** What a run uses. */
  runOf(run: Run): Run;
  /** C1: whether all tools are only observed, so that limits pause nothing. */
  isObserved(): boolean;
  /** The limits that hold for a run. */
  limits(run: Run): readonly LimitView[];
  /** What became of the calls of a tool; undefined if it was not called, or has no tally of its own. */
  tallyOf(tool: string): ToolTally | undefined;
  /** The same of each tool, in the order of first calls. */
  tallies(): ReadonlyMap<string, ToolTally>;
}

/** The parts of a session that its views are made from. */
interface Shown {
  readonly agent: string;
  readonly engine: Engine;
  readonly entries: SessionTools;
  readonly now: (ms?: number) => Moment;
  /** How this session ends its own probes (C9). */
  readonly lapse: LapseHandler;
}

/** What a session says about itself: notes, explanations and views, of a run of its tree. Changes nothing (C11). */
export class SessionViews {
  readonly #shown: Shown;

  constructor(shown: Shown) {
    this.#shown = shown;
  }

  get #box(): BoxContext {
    return this.#shown.engine.box;
  }

  note(run: Run | undefined): string {
    const look = this.lookAhead();
    const limits = run === undefined ? [] : look.limits(run);
    const near = limits.filter(({ level, mode }) => level !== undefined && mode !== 'observe');
    const advice = near.length > 0 && this.isObserved(look.circuits) ? '' : adviceOf(near);
    const rejected = noteText(this.#rejected(run, look));
    const isPaused = near.some(pausesRun);
    return isPaused && rejected !== '' ? rejected : [advice, rejected].filter(Boolean).join('\n\n'); // The pause says it too.
  }

  /** C1: all declared tools are only observed, so that limits pause nothing, and the model is told nothing. */
  isObserved(circuits: CircuitRegistry = this.#shown.engine.circuits): boolean {
    const tools = [...this.#box.tools()];
    if (tools.length === 0) return this.#box.undeclared.mode === 'observe_only';
    return tools.every((name) => circuits.modeOfTool(name) === 'observe_only');
  }

  unavailable(run: Run | undefined): readonly string[] {
    return this.#rejected(run, this.lookAhead()).map(({ tool }) => tool);
  }

  /** R3: the declared tools that would be skipped or paused now. */
  #rejected(run: Run | undefined, { decider, at, runOf }: LookAhead): readonly RejectionFacts[] {
    const call = { ...NO_CALL, run: run && runOf(run) };
    return [...this.#box.tools()]
      .map((tool) => decider.predict(tool, call, at))
      .filter((facts) => facts.route !== undefined && !isForNow(facts));
  }

  explain(run: Run | undefined, tool: string, input: unknown): Explanation {
    const { entries, engine } = this.#shown;
    const { store, ledgers, circuits: copies, decider, at, runOf, tallyOf } = this.lookAhead();
    const name = entries.nameOf(tool);
    const spec = this.#box.tool(name);
    if (spec !== undefined && this.#box.overrides.common.version > 0) copies.foresee(spec, at);
    const key = this.#keyFor(name, input);
    const known = input === undefined ? undefined : engine.history.inputOf({ input }, spec ?? this.#box.undeclared);
    const circuits = [spec?.group?.name, name].flatMap((one) => {
      const tracked = one === undefined ? undefined : store.circuits.get(one);
      return tracked === undefined ? [] : [viewCircuit(tracked, circuitMoment(store, at), this.#box, key)];
    });
    const predicted = decider.predict(name, { input: known, key, run: run && runOf(run) }, at);
    return explanationOf(predicted, ledgers.real.ledger, circuits, tallyOf(name), at);
  }

  peek(tool: string, input: unknown): CircuitView | undefined {
    const { store, at } = this.lookAhead();
    const name = this.#shown.entries.nameOf(tool);
    const tracked = store.circuits.get(name);
    return tracked && viewCircuit(tracked, circuitMoment(store, at), this.#box, this.#keyFor(name, input));
  }

  /**
   * C14: the key of the circuit to look at. Keys that adapters name are not known here. Most of them name the host, so the host is
   * tried.
   */
  #keyFor(tool: string, input: unknown): string | undefined {
    const spec = input === undefined ? undefined : this.#box.tool(tool);
    return spec && keyOf(spec, this.#shown.agent, input, byHost()(input));
  }

  view(id: string, run: Run | undefined): SessionView {
    const { store, ledgers, at, limits: limitsOf } = this.lookAhead();
    const limits = run && limitsOf(run);
    return {
      id,
      agent: this.#shown.agent,
      state: withLimits(ledgers.state, limits?.some(pausesRun) === true),
      step: at.step,
      budget: viewBudget(ledgers.real.ledger.budget),
      systemic: ledgers.event,
      circuits: viewCircuits(store, at, this.#box),
      ...(limits && { limits }),
    };
  }

  /**
   * C11: what the next decision would find, worked out on copies. The copies catch up with the time. Nothing is reported or
   * counted, except the answer of a pre-call check that the look starts.
   */
  lookAhead(): LookAhead {
    const { engine, entries, lapse: ownLapse, now } = this.#shown;
    const at = now();
    const { prechecks } = this.#box;
    // The end of an event does not drop the scores of pre-call checks.
    const box: BoxContext = { ...this.#box, prechecks: { ...prechecks, forget: () => {} } };
    const store = copyStore(engine.circuits.store);
    const copyOf = (pair: LedgerPair): Copy => {
      const changes = new PendingChanges(); // They are dropped.
      const ledgers = new FailureLedgers(pair, store, box.systemic, changes);
      const circuits = engine.circuits.copy({ box, store, ledgers, changes });
      return { ledgers, circuits, calls: new CopiedCalls(engine.history) };
    };
    const own = copyOf(engine.circuits.ledgers.ledgerPair);
    let others: Copy | undefined;
    const lapse = (permit: SessionPermit, onLapse: LapseHandler): void => {
      const isOwn = onLapse === ownLapse;
      if (!isOwn) others ??= copyOf(freshMemory(createBudget({}), at.ms).ledgerPair); // Another session pays for its own probes.
      const { circuits, calls } = isOwn ? own : (others ?? own);
      const call = calls.ending(permit);
      const judged = lapseOf(call);
      const back = leave({ circuits, history: calls.history }, call, judged, undefined, call.leaseUntilMs);
      if (back !== 'untouched') answer(circuits, call, judged, now(call.leaseUntilMs), back);
    };
    const { circuits, ledgers, calls } = own;
    calls.lapse(engine.run, at.ms);
    circuits.catchUp(at, lapse);
    const runOf = (run: Run) => calls.runOf(run);
    const isObserved = () => this.isObserved(circuits); // C1: by the modes of the copies.
    const reading = (tally: RunningTally) => calls.tallyOf(tally);
    return {
      store,
      ledgers,
      circuits,
      decider: new Decider({ ...engine, box, circuits, history: calls.history, run: engine.run && runOf(engine.run) }),
      at,
      runOf,
      isObserved,
      limits: (run) => runOf(run).view(at.ms, isObserved()),
      tallyOf: (tool) => entries.tallyOf(tool, reading),
      tallies: () => entries.tallies(reading),
    };
  }
}

/** Copies that a look ahead may change. */
type Copy = Pick<LookAhead, 'ledgers' | 'circuits'> & { readonly calls: CopiedCalls };
