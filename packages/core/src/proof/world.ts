import { operate } from '../control/operator.ts';
import { reconfigure } from '../control/reconfigure.ts';
import type { SharedCircuits } from '../fleet/seam.ts';
import { shareCircuits } from '../fleet/share-circuits.ts';
import {
  type Availability,
  type Breakerbox,
  createBreakerbox,
  type Permit,
  type Session,
  type SystemicEvent,
} from '../index.ts';
import { boxModels, type ModelHandle } from '../models/model-session.ts';
import type { CaseConfig } from './configurations.ts';
import { AGENT, costsBefore, readSeries, UNIX_START } from './drive-metrics.ts';
import { SLOTS } from './happenings.ts';
import {
  type Model,
  type ModelBox,
  type ModelPermit,
  type ModelSession,
  newBox,
  newModel,
  type OwnTools,
} from './model.ts';
import { listModels, newModelSession, newModels } from './model-models.ts';
import { newSession } from './model-sessions.ts';

/** A box of the engine, and the model's; each has a clock of its own origin, as processes have. */
export interface Process {
  readonly box: Breakerbox;
  readonly modelBox: ModelBox;
  readonly originMs: number;
  /** Where a fleet gives its orders. Undefined without a fleet: its overrides would make each call settle everything. */
  readonly circuits: SharedCircuits | undefined;
  /** L2: who decides for its models. */
  readonly models: Pick<Slot, 'session' | 'model'> & { readonly handles: Map<string, ModelHandle> };
}

export interface Slot {
  readonly process: Process;
  readonly session: Session;
  readonly model: ModelSession;
}

export interface Pair {
  readonly permit: Permit;
  readonly model: ModelPermit;
  /** The model that it belongs to: that of the tools, or that of the models. */
  readonly of: Model;
  /** Of a call of a model. */
  readonly handle?: ModelHandle | undefined;
}

/** Model and engine, to which the same happens. */
export interface World {
  readonly model: Model;
  /** L2: the models, which are apart from the tools. */
  readonly ofModels: Model;
  readonly processes: readonly Process[];
  readonly slots: Slot[];
  /** Sessions that gave their slot to another, and have not ended. */
  readonly left: Slot[];
  /** Permits that let a call through and have not settled. */
  readonly underWay: Pair[];
  /** The others. */
  readonly over: Pair[];
  /** How often an event ended, by what ended it. */
  readonly resolved: Map<string, number>;
  /** How often a look ahead gave each reason while a probe hung. */
  readonly foreseen: Map<string, number>;
  /** What listeners of the engine have been told. */
  readonly told: string[];
  /** The series of the agent's metrics before: counters outlive boxes. */
  readonly metricsBefore: ReadonlyMap<string, number>;
  /** C18: settings of tools of the sessions, in turn. */
  readonly ofSessions: readonly (OwnTools | undefined)[];
}

export const newWorld = ({ checked, ofSessions = [undefined], ...rest }: CaseConfig): World => {
  const health = new Map<string, Availability>(checked.map((tool) => [tool, 'available']));
  const tools = Object.fromEntries(
    Object.entries(rest.tools).map(([tool, own]) => [
      tool,
      { ...own, ...(health.has(tool) && { precheck: () => health.get(tool) ?? 'available' }) },
    ]),
  );
  const config = { ...rest, tools };
  const model = newModel({ agent: AGENT, ...config }, costsBefore(), health);
  const ofModels = newModels(model);
  const told: string[] = [];
  const metricsBefore = readSeries();
  // C16: one process attaches the fleet last, and the other first.
  const processes = [1_000, 987_654_321].map((originMs, index): Process => {
    const isLast = index === 0;
    const clock = { now: () => originMs + model.ms, unixNow: () => UNIX_START + model.ms };
    const box = createBreakerbox({ agent: AGENT, ...config, clock, sessionIdleMs: 1e12 });
    listen(box, told, originMs);
    if (isLast) attachOthers(box);
    const circuits = config.fleet && shareCircuits(box);
    if (!isLast) attachOthers(box);
    const models = { session: boxModels(box).session, model: newModelSession(ofModels), handles: new Map() };
    return { box, modelBox: newBox(model), originMs, circuits, models };
  });
  const world: World = {
    model,
    ofModels,
    processes,
    slots: [],
    left: [],
    underWay: [],
    over: [],
    resolved: new Map(),
    foreseen: new Map(),
    told,
    metricsBefore,
    ofSessions,
  };
  for (let slot = 0; slot < SLOTS; slot += 1) world.slots.push(begin(world));
  for (const process of processes) for (const models of LISTS) list(world, process, models);
  return world;
};

/** The lists that programs begin with: a model with a fallback, that fallback, and a model alone. */
const LISTS = [['p/x', 'q/z'], ['p/y']];

/** L2: a program makes a list of models. */
export const list = ({ model }: World, { box, models }: Process, names: readonly string[]): void => {
  for (const [index, name] of names.entries()) {
    const [group = ''] = name.split('/');
    const handle = boxModels(box).declare({ name, group, hasFallback: index < names.length - 1 });
    if (handle !== undefined) models.handles.set(handle.name, handle);
  }
  listModels(model, models.model, names);
};

/** What lies over and beneath the fleet. */
const attachOthers = (box: Breakerbox): void => {
  operate(box);
  reconfigure(box, (config) => config);
};

/** A new session of the first process. */
export const begin = ({ model, processes, ofSessions }: World): Slot => {
  const process = at(processes, 0);
  const id = `run-${model.sessions.length}`;
  const tools = at(ofSessions, model.sessions.length);
  const session = process.box.session({ id, ...(tools && { tools }) });
  return { process, session, model: newSession(model, process.modelBox, id, tools) };
};

/** An element, counted round and round. */
export const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

const THROWN = new Error('E5: a listener that throws changes nothing');

/** What listeners hear, in the model's words. */
const listen = (box: Breakerbox, told: string[], originMs: number): void => {
  const tell = (...what: unknown[]) => {
    told.push(what.join(' '));
    throw THROWN;
  };
  const eventOf = (event: SystemicEvent) => JSON.stringify(reportOf(event, originMs));
  box.on('decision', (e) => tell(e.session, 'decision', e.tool, e.decision, e.reason));
  box.on('outcome', (e) => tell(e.session, 'outcome', e.tool, e.outcome, e.category, e.late));
  box.on('circuit.transition', (e) =>
    tell(e.session, 'circuit.transition', e.tool, `${e.from}>${e.to}`, e.category, e.observed),
  );
  box.on('systemic.detected', (e) => tell(e.session, 'systemic.detected', eventOf(e.event)));
  box.on('systemic.resolved', (e) => tell(e.session, 'systemic.resolved', eventOf(e.event), e.by));
  box.on('budget.exhausted', (e) => tell(e.session, 'budget.exhausted', e.limit, e.cycle));
  for (const name of ['limit.advised', 'limit.reached', 'limit.lifted'] as const)
    box.on(name, (e) => tell(e.session, name, e.limit, e.mode, e.used, e.size));
  box.on('budget.resumed', (e) => tell(e.session, 'budget.resumed', e.limit, e.cycle));
};

/** What is said of an event, in the model's words. */
export const reportOf = ({ category, layer, openings }: SystemicEvent, originMs: number) => ({
  category,
  layer,
  openings: openings.map((one) => `${one.tool} ${one.category} @${one.at.step} ${one.at.ms - originMs}`),
});
