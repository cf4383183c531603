import type {
  Availability,
  BreakerboxConfig,
  CircuitMode,
  Decision,
  ErrorCategory,
  Outcome,
  Reason,
} from '../index.ts';
import { type Account, granted, left, newAccount } from './model-account.ts';
import { type ModelCircuit, newCircuit } from './model-circuit.ts';
import { type Rules, rulesOf, type SystemicRules, systemicRulesOf, type When } from './rules.ts';

/**
 * The reference model of the engine: behaviour.md put into plain code over mutable objects, for clarity and not for speed.
 * It shares no code with the engine; what the two say is compared call by call.
 */
export interface Model {
  readonly config: BreakerboxConfig;
  readonly undeclared: Rules;
  readonly systemic: SystemicRules | undefined;
  ms: number;
  permits: number;
  readonly sessions: ModelSession[];
  /** What listeners have been told. */
  readonly told: string[];
  /** What the metrics have counted, by name and attributes. */
  readonly counted: Map<string, number>;
  /** O4: what the failed calls of each tool have cost, as far as somebody said so. */
  readonly costs: Map<string, { readonly tokens: number; readonly calls: number }>;
  /** K1: what checks would say now. */
  readonly health: Map<string, Availability>;
  /** O5; undefined: nobody counts. */
  readonly repeats: number | undefined;
}

/** One box of possibly many processes. */
export interface ModelBox {
  readonly tools: Map<string, Rules>;
  /** K3: what the pre-call checks have said, and when. */
  readonly scores: Map<string, { readonly availability: Availability; readonly ms: number }>;
  /** B5: the budget alone counts where it doesn't. */
  readonly keepsCircuits: boolean;
  /** C12: the circuits that all of its sessions share. */
  readonly shared: ModelHome | undefined;
}

/** Where circuits live: with a session, or with its box (C12). */
export interface ModelHome {
  /** In the order of their first use. */
  readonly circuits: ModelCircuit[];
  /** Probes that have not settled. */
  probes: ModelPermit[];
  /** What sessions learn from each other; undefined for a session's own circuits. */
  readonly board: ModelBoard | undefined;
}

export interface ModelBoard {
  /** How often anything of this has changed. */
  changes: number;
  openings: BoardOpening[];
  /** What pauses all sessions; who doesn't see it in the openings is told by it. */
  event: readonly BoardOpening[] | undefined;
  recoveries: number;
  recoveredBy: 'operator' | 'time';
  /** Of all sessions together. */
  step: number;
  stepMs: number;
}

export interface BoardOpening {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly ms: number;
}

export interface ModelSession {
  readonly id: string;
  readonly box: ModelBox;
  step: number;
  stepMs: number;
  ended: boolean;
  readonly home: ModelHome;
  /** C12: what of the board it has seen. */
  seen: { changes: number; recoveries: number };
  /** C11: restored, and not declared yet. */
  kept: ModelCircuit[];
  /** Pauses the session. */
  readonly real: Account;
  /** C1: what would pause it if the observed tools counted. */
  shadow: Account | undefined;
  /** What others have counted of this session before it was restored. */
  readonly before: { readonly granted: number; readonly consumed: number };
  /** O5: for each tool, the calls that came to the same nothing, one after the other. */
  loops: Loop[];
}

export interface Loop {
  readonly tool: string;
  readonly input: string;
  readonly way: string;
  readonly times: number;
}

export interface ModelPermit {
  readonly id: number;
  readonly session: ModelSession;
  readonly tool: string;
  readonly input: string | undefined;
  readonly decision: Decision;
  readonly reason: Reason;
  readonly circuit: ModelCircuit | undefined;
  /** Under which name it is counted. */
  readonly series: string;
  readonly startMs: number;
  /** C7; undefined where no circuit let the call through. */
  readonly generation: number | undefined;
  /** C9; undefined unless a probe. */
  readonly leaseMs: number | undefined;
  settled: boolean;
}

/** O1: what a call comes to. */
export interface Ended {
  readonly outcome: Outcome;
  readonly category?: ErrorCategory;
  readonly retryAfterMs?: number;
  /** O4. */
  readonly tokens?: number;
}

export const newModel = (config: BreakerboxConfig, costs: Model['costs'], health: Model['health']): Model => ({
  config,
  undeclared: rulesOf(config.defaults ?? {}, 'automatic'),
  systemic: systemicRulesOf(config.systemic),
  ms: 0,
  permits: 0,
  sessions: [],
  told: [],
  counted: new Map(),
  costs,
  health,
  repeats: config.loopGuard === false ? undefined : (config.loopGuard?.repeats ?? 3),
});

export const newBox = ({ config, undeclared }: Model): ModelBox => ({
  tools: new Map(
    Object.entries(config.tools ?? {}).map(([tool, own]) => [tool, rulesOf(own, undeclared.mode, config.scope)]),
  ),
  scores: new Map(),
  keepsCircuits: config.scope !== 'none',
  shared:
    config.scope === 'process'
      ? {
          circuits: [],
          probes: [],
          board: {
            changes: 0,
            openings: [],
            event: undefined,
            recoveries: 0,
            recoveredBy: 'operator',
            step: 0,
            stepMs: 0,
          },
        }
      : undefined,
});

const ownHome = (): ModelHome => ({ circuits: [], probes: [], board: undefined });

export const newSession = (model: Model, box: ModelBox, id: string): ModelSession => {
  const session: ModelSession = {
    id,
    box,
    step: 0,
    stepMs: model.ms,
    ended: false,
    home: box.shared ?? ownHome(),
    seen: { changes: 0, recoveries: box.shared?.board?.recoveries ?? 0 },
    kept: [],
    real: newAccount(model.config.budget?.failures ?? 5, model.config.budget?.tokens),
    shadow: undefined,
    before: { granted: 0, consumed: 0 },
    loops: [],
  };
  if (model.undeclared.mode === 'observe_only') openShadow(session);
  model.sessions.push(session);
  return session;
};

/** C11: the session as it goes on in another process, from a snapshot; the old one has ended. */
export const restored = (model: Model, old: ModelSession, box: ModelBox): ModelSession => {
  const { id, step, stepMs, real, shadow, home, kept } = old;
  const all = box.shared ? [] : structuredClone([...home.circuits, ...kept]).map((one) => ({ ...one, probing: [] }));
  const session: ModelSession = {
    ...newSessionFrom(apart(box, structuredClone(real))),
    id,
    box,
    home: box.shared ?? ownHome(),
    seen: { changes: 0, recoveries: box.shared?.board?.recoveries ?? 0 },
    step,
    stepMs,
    shadow: shadow && apart(box, structuredClone(shadow)),
    kept: all,
  };
  for (const { tool } of all) circuitOf(session, tool);
  model.sessions.push(session);
  end(old);
  return session;
};

/** C12, B5: what circuits have to do with an account stays with the box that they belong to. */
const apart = (box: ModelBox, account: Account): Account => {
  if (box.shared === undefined && box.keepsCircuits) return account;
  return Object.assign(account, { openings: [], event: undefined, paid: false });
};

const newSessionFrom = (real: Account) => ({
  ended: false,
  real,
  before: { granted: granted(real) - left(real), consumed: real.consumed },
  loops: [],
});

export const openShadow = (session: ModelSession): void => {
  session.shadow ??= structuredClone(session.real);
};

export const circuitOf = (session: ModelSession, tool: string): ModelCircuit | undefined => {
  if (!session.box.keepsCircuits) return undefined; // B5
  const known = session.home.circuits.find((one) => one.tool === tool);
  const rules = session.box.tools.get(tool);
  if (known !== undefined || rules === undefined) return known;
  const circuit = session.kept.find((one) => one.tool === tool) ?? newCircuit(tool, rules);
  session.kept = session.kept.filter((one) => one !== circuit);
  session.home.circuits.push(circuit);
  if (circuit.mode === 'observe_only') openShadow(session);
  return circuit;
};

export const count = ({ counted }: Model, key: string, by = 1): void =>
  void counted.set(key, (counted.get(key) ?? 0) + by);

export const tell = (model: Model, session: ModelSession, ...what: unknown[]): void =>
  void model.told.push([session.id, ...what].join(' '));

export const now = (model: Model, { step }: ModelSession): When => ({ ms: model.ms, step });

/** The accounts that hear of a tool: of an observed one the shadow alone (C1). */
export const accountsOf = ({ real, shadow }: ModelSession, observed: boolean): Account[] =>
  [...(observed ? [] : [real]), shadow].filter((one) => one !== undefined);

/** The session is over; where others share its circuits, its probes give their places back (C12). */
export const end = (session: ModelSession): void => {
  session.ended = true;
  const { home } = session;
  if (home.board === undefined) return;
  for (const { circuit, id } of home.probes.filter((one) => one.session === session)) {
    if (circuit) circuit.probing = circuit.probing.filter((one) => one !== id);
  }
  home.probes = home.probes.filter((one) => one.session !== session);
};

/** The moment that circuits go by: where they are shared, with the steps of all. */
export const circuitNow = ({ ms }: Model, { home, step, stepMs }: ModelSession) => {
  const { board } = home;
  return { when: { ms, step: board ? board.step : step }, stepMs: board ? board.stepMs : stepMs };
};

/** C12: what happens to a circuit is news to the others; one's own news is none to oneself. */
export const post = (session: ModelSession, change: (board: ModelBoard) => void): void => {
  const { board } = session.home;
  if (board === undefined) return;
  const upToDate = session.seen.changes === board.changes;
  change(board);
  board.changes += 1;
  if (upToDate) session.seen.changes = board.changes;
};

/** Who decides for a tool: its circuit, or where there is none how the tool is configured. */
export const modeOf = (
  model: Model,
  { box }: ModelSession,
  tool: string,
  circuit: ModelCircuit | undefined,
): CircuitMode => (circuit ?? box.tools.get(tool) ?? model.undeclared).mode;
