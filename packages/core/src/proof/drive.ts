import { expect } from 'vitest';
import {
  type Availability,
  type Breakerbox,
  BreakerboxUsageError,
  createBreakerbox,
  METRIC,
  type Permit,
  type Session,
  type SystemicEvent,
} from '../index.ts';
import { agentCells } from '../telemetry/hub.ts';
import { AGENT_READINGS, type Cell, TOOL_READINGS } from '../telemetry/metrics.ts';
import { ATTR } from '../telemetry/semconv.ts';
import { type CaseConfig, type Happening, SLOTS } from './happenings.ts';
import {
  type Ended,
  end,
  type Model,
  type ModelBox,
  type ModelPermit,
  type ModelSession,
  newBox,
  newModel,
  newSession,
  restored,
} from './model.ts';
import { acquire, settle } from './model-calls.ts';
import { confirmRecovered, control, declare, resume, step } from './model-control.ts';
import { modelMetrics, permitOf, viewOf } from './model-view.ts';

const AGENT = 'proof';
const UNIX_START = 1_700_000_000_000;

type Asked = Extract<Happening, { kind: 'acquire' | 'call' }>;

/** A box of the engine, and the model's; each has a clock of its own origin, as processes have. */
interface Process {
  readonly box: Breakerbox;
  readonly modelBox: ModelBox;
  readonly originMs: number;
}

interface Slot {
  readonly process: Process;
  readonly session: Session;
  readonly model: ModelSession;
}

interface Pair {
  readonly permit: Permit;
  readonly model: ModelPermit;
}

/** Model and engine, to which the same happens. */
export interface World {
  readonly model: Model;
  readonly processes: readonly Process[];
  readonly slots: Slot[];
  /** Sessions that gave their slot to another, and have not ended. */
  readonly left: Slot[];
  /** Permits that let a call through and have not settled. */
  readonly underWay: Pair[];
  /** The others. */
  readonly over: Pair[];
  /** What listeners of the engine have been told. */
  readonly told: string[];
  /** The cells of the agent's metrics before: counters outlive boxes. */
  readonly metricsBefore: ReadonlyMap<string, number>;
}

export const newWorld = ({ checked, ...rest }: CaseConfig): World => {
  const health = new Map<string, Availability>(checked.map((tool) => [tool, 'available']));
  const tools = Object.fromEntries(
    Object.entries(rest.tools).map(([tool, own]) => [
      tool,
      { ...own, ...(health.has(tool) && { precheck: () => health.get(tool) ?? 'available' }) },
    ]),
  );
  const config = { ...rest, tools };
  const model = newModel({ agent: AGENT, ...config }, costsBefore(), health);
  const told: string[] = [];
  const metricsBefore = readCells();
  const processes = [1_000, 987_654_321].map((originMs): Process => {
    const clock = { now: () => originMs + model.ms, unixNow: () => UNIX_START + model.ms };
    const box = createBreakerbox({ agent: AGENT, ...config, clock, sessionIdleMs: 1e12 });
    listen(box, told, originMs);
    return { box, modelBox: newBox(model), originMs };
  });
  const world: World = { model, processes, slots: [], left: [], underWay: [], over: [], told, metricsBefore };
  for (let slot = 0; slot < SLOTS; slot += 1) world.slots.push(begin(world));
  return world;
};

const begin = ({ model, processes }: World): Slot => {
  const process = at(processes, 0);
  const id = `run-${model.sessions.length}`;
  return { process, session: process.box.session({ id }), model: newSession(model, process.modelBox, id) };
};

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** What listeners hear, in the model's words. */
const listen = (box: Breakerbox, told: string[], originMs: number): void => {
  const tell = (...what: unknown[]) => {
    told.push(what.join(' '));
    throw new Error('E5: a listener that throws changes nothing');
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
  box.on('budget.resumed', (e) => tell(e.session, 'budget.resumed', e.limit, e.cycle));
};

const reportOf = ({ category, layer, openings }: SystemicEvent, originMs: number) => ({
  category,
  layer,
  openings: openings.map((one) => `${one.tool} ${one.category} @${one.at.step} ${one.at.ms - originMs}`),
});

/** Lets the same happen to both, and compares what can be seen of them. */
export const happen = (world: World, what: Happening): void => {
  const { model } = world;
  switch (what.kind) {
    case 'wait':
      model.ms += what.ms;
      break;
    case 'health':
      if (model.health.has(what.tool)) model.health.set(what.tool, what.availability);
      break;
    case 'settle': {
      const [pair] = world.underWay.splice(what.which % Math.max(1, world.underWay.length), 1);
      if (pair !== undefined) settleBoth(world, pair, what.how);
      break;
    }
    case 'settle_again':
      if (world.over.length > 0) settleBoth(world, at(world.over, what.which), what.how);
      break;
    case 'acquire':
      acquireBoth(world, at(world.slots, what.slot), what);
      break;
    case 'call':
      for (let i = 0; i < what.times; i += 1) {
        const pair = acquireBoth(world, at(world.slots, what.slot), what);
        settleBoth(world, pair, what.how);
        if (world.underWay.at(-1) === pair) world.underWay.pop();
      }
      break;
    default:
      toSession(world, what.slot % SLOTS, what);
  }
  compare(world);
};

const acquireBoth = (world: World, { session, model }: Slot, { tool, input }: Asked): Pair => {
  const permit = session.acquire(tool, { input });
  const expected = acquire(world.model, model, tool, input);
  const { decision, reason, caution, state, observed, budgetRemaining, message } = permit;
  same(
    { decision, reason, caution, state, observed, budgetRemaining, words: message !== '' },
    permitOf(expected, world.model),
  );
  const pair = { permit, model: expected };
  (expected.settled ? world.over : world.underWay).push(pair);
  return pair;
};

const settleBoth = (world: World, pair: Pair, how: Ended): void => {
  const { outcome, category, retryAfterMs, tokens } = how;
  const told = { ...(category && { category }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  pair.permit.settle(outcome === 'success' ? { outcome, tokens } : { outcome, ...told, tokens });
  settle(world.model, pair.model, how);
  world.over.push(pair);
};

type ToSession = Exclude<Happening, { kind: 'wait' | 'health' | 'settle' | 'settle_again' | 'acquire' | 'call' }>;

const toSession = (world: World, index: number, what: ToSession): void => {
  const slot = at(world.slots, index);
  const { session, process } = slot;
  switch (what.kind) {
    case 'step':
      for (let i = 0; i < what.count; i += 1) {
        session.step();
        step(world.model, slot.model);
      }
      break;
    case 'resume':
      session.resume();
      resume(world.model, slot.model);
      break;
    case 'confirm':
      session.confirmRecovered();
      confirmRecovered(world.model, slot.model);
      break;
    case 'declare':
      session.declare(what.tool);
      declare(world.model, slot.model, what.tool);
      break;
    case 'control':
      controlBoth(world, slot, what);
      break;
    case 'end':
      session.end();
      end(slot.model);
      break;
    case 'begin':
      world.left.push(slot);
      world.slots[index] = begin(world);
      break;
    case 'restart': {
      const other = at(world.processes, world.processes.indexOf(process) + 1);
      const snapshot: unknown = JSON.parse(JSON.stringify(session.snapshot()));
      session.end();
      const model = restored(world.model, slot.model, other.modelBox);
      world.slots[index] = { process: other, session: other.box.restore(snapshot), model };
    }
  }
};

const controlBoth = (world: World, slot: Slot, { tool, mode }: Extract<Happening, { kind: 'control' }>): void => {
  let refused = false;
  try {
    slot.session.control(tool, mode);
  } catch (error) {
    if (!(error instanceof BreakerboxUsageError)) throw error;
    refused = true;
  }
  same({ refused }, { refused: !control(world.model, slot.model, tool, mode) });
};

/** C11: what is seen after each call; looking changes nothing, or the next comparison would show it. */
const compare = ({ model, slots, told }: World): void => {
  for (const { session, model: expected, process } of slots) {
    const { systemic, ...view } = session.view();
    same({ ...view, systemic: systemic && reportOf(systemic, process.originMs) }, viewOf(model, expected));
    for (const circuit of view.circuits) same(session.peek(circuit.tool), circuit);
  }
  same(bySession(told.splice(0)), bySession(model.told.splice(0)));
};

/** C12: each session tells in order; when one notices what is another's, theirs may come in between. */
const bySession = (lines: readonly string[]): readonly string[] => {
  const idOf = (line: string) => line.slice(0, line.indexOf(' '));
  return [...lines].sort((a, b) => (idOf(a) < idOf(b) ? -1 : Number(idOf(a) > idOf(b))));
};

/** Ends everything, and compares what the metrics have counted before and after. */
export const finish = (world: World): void => {
  compareMetrics(world);
  for (const { session, model } of [...world.slots, ...world.left]) {
    session.end();
    end(model);
  }
  compareMetrics(world); // No leaks: nothing is left in the gauges.
};

const compareMetrics = ({ model, metricsBefore }: World): void => {
  const counted: Record<string, number> = {};
  const expected = modelMetrics(model, UNIX_START);
  for (const [key, value] of readCells()) {
    const change = key.startsWith('openedTime|') ? value : value - (metricsBefore.get(key) ?? 0);
    if (change !== 0 && (!key.startsWith('openedTime|') || key in expected)) counted[key] = change;
  }
  same(sorted(counted), sorted(expected));
};

const sorted = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));

/** O4: what the cells know of the cost of failed calls: it outlives boxes too. */
const costsBefore = (): Model['costs'] => {
  const { tools } = agentCells(AGENT);
  return new Map(
    [...tools].map(([tool, one]) => [tool, { tokens: one.tokensWasted.value, calls: one.costedFailures.value }]),
  );
};

/** What the real cells behind the metrics say. */
const readCells = (): Map<string, number> => {
  const cells = agentCells(AGENT);
  const all = new Map<string, number>();
  const read = (name: keyof typeof METRIC, some: Iterable<Cell>) => {
    for (const { attributes, value } of some) {
      const values = [attributes[ATTR.tool], ...METRIC[name].attributes.map((key) => attributes[key])];
      all.set([name, ...values.filter((one) => one !== undefined)].join('|'), value);
    }
  };
  for (const [name, of] of Object.entries(AGENT_READINGS)) read(name as keyof typeof AGENT_READINGS, of(cells));
  for (const tool of cells.tools.values()) {
    for (const [name, of] of Object.entries(TOOL_READINGS)) read(name as keyof typeof TOOL_READINGS, of(tool));
  }
  return all;
};

/** Equal as JSON: ten times as fast as `toEqual`, which has the last word where they differ. */
const same = (seen: unknown, expected: unknown): void => {
  if (JSON.stringify(seen) !== JSON.stringify(expected)) expect(seen).toEqual(expected);
};
