import type { Model, ModelBox, ModelSession, OwnTools } from './model.ts';
import { count, newHome } from './model.ts';
import { left, newBudget } from './model-budget.ts';
import { ANY_TIME, type ModelCircuit } from './model-circuit.ts';
import { succeeded } from './model-history.ts';
import { circuitOf, correlating, startDryRun } from './model-home.ts';
import { restoreRun } from './model-limits.ts';
import { newRun } from './model-run.ts';
import { shownOf } from './model-sharing.ts';
import { lookedAhead } from './model-view.ts';
import { beneath } from './model-wanted.ts';

export const newSession = (model: Model, box: ModelBox, id: string, tools: OwnTools = {}): ModelSession => {
  const session: ModelSession = {
    id,
    box,
    step: 0,
    stepMs: model.ms,
    calls: 0,
    live: true,
    home: box.shared ?? newHome(),
    kept: [],
    real: newBudget(model.budget),
    dryRun: undefined,
    consumedBefore: 0,
    shown: { state: 'active', remaining: model.budget.limit, event: false },
    low: false,
    loops: [],
    latest: [],
    circles: [],
    run: newRun(model.ms),
    tools,
  };
  model.sessions.push(session);
  count(model, 'sessionsStarted');
  session.shown = shownOf(model, session);
  return session;
};

/** A session as it was, for another process: a copy that nothing changes. */
export interface Kept
  extends Pick<
    ModelSession,
    'id' | 'step' | 'stepMs' | 'calls' | 'home' | 'kept' | 'real' | 'dryRun' | 'run' | 'tools'
  > {
  readonly succeeded: readonly string[];
}

/** C11: as the next decision would find it. Probes that are under way do not belong to it, nor does a Retry-After that has passed. */
export const keep = (model: Model, session: ModelSession): Kept => {
  const { id, step, stepMs, calls, home: covered, kept, real, dryRun, run, tools } = lookedAhead(model, session);
  const home = beneath(covered);
  const all = [...home.circuits, ...kept, ...home.keys.map(({ circuit }) => circuit)];
  for (const one of all) if (one.notBeforeMs <= model.ms) one.notBeforeMs = ANY_TIME;
  const works = [...session.box.succeeded];
  return {
    id,
    step,
    stepMs,
    calls,
    home: { ...home, probes: [], underWay: [] },
    kept,
    real,
    dryRun,
    run,
    tools,
    succeeded: works,
  };
};

/** C11: the session as it goes on in another process. `laterMs`: how much more time counts as passed than did. */
export const restored = (model: Model, kept: Kept, box: ModelBox, laterMs: number): ModelSession => {
  const { tools } = kept;
  const { id, step, stepMs, calls, home, kept: undeclared, real, dryRun, run } = earlier(kept, laterMs);
  const circuits = box.shared ? [] : [...home.circuits, ...undeclared].map(ownCopy);
  const keys = home.keys.filter(({ blamed }) => blamed).map((one) => ({ ...one, circuit: ownCopy(one.circuit) }));
  const keyGenerations = new Map(keys.map(({ tool }) => [tool, 0]));
  for (const tool of kept.succeeded) succeeded(box, tool);
  const own = box.shared ?? { ...newHome(), real: home.real, dryRun: home.dryRun, keys, keyGenerations };
  const session: ModelSession = {
    id,
    box,
    step,
    stepMs,
    calls,
    live: true,
    home: own,
    kept: circuits,
    real,
    dryRun,
    consumedBefore: real.by.consumed,
    shown: { state: 'active', remaining: left(real), event: false },
    low: left(real) <= 1 && left(real) < real.by.limit,
    loops: [],
    latest: [],
    circles: [],
    run,
    tools,
  };
  if (dryRun !== undefined) startDryRun(session); // C12: the dryRun of the box may not be there yet.
  const common = correlating(model, session)?.common;
  for (const side of box.shared ? [] : [own.real, own.dryRun]) {
    if (side?.event && common) side.event = { ...side.event, tie: common(side.event.openings.map(({ tool }) => tool)) };
  }
  for (const { tool } of circuits) circuitOf(model, session, tool);
  restoreRun(model, session, run);
  session.shown = shownOf(model, session);
  model.sessions.push(session);
  return session;
};

/** The session that was kept goes on too, and what it adds is its own. */
const ownCopy = (circuit: ModelCircuit): ModelCircuit => ({ ...circuit, results: [...circuit.results], probing: [] });

/** The same, with everything so much earlier. */
const earlier = <T>(value: T, ms: number): T => {
  if (ms === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => earlier(one, ms)) as T;
  const moved = Object.entries(value).map(([key, one]) => [key, moveBack(key, one, ms)]);
  return Object.fromEntries(moved) as T;
};

const moveBack = (key: string, value: unknown, ms: number): unknown => {
  if (key === 'rules') return value;
  const isMoment = key === 'ms' || key === 'stepMs' || key === 'notBeforeMs';
  return isMoment && typeof value === 'number' ? value - ms : earlier(value, ms);
};
