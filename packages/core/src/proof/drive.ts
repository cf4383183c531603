import { operate } from '../control/operator.ts';
import { BreakerboxUsageError, type Permit } from '../index.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot as snapshotOf } from '../snapshot/snapshot.ts';
import { compareMetrics, same, UNIX_START } from './drive-metrics.ts';
import { type Happening, SLOTS } from './happenings.ts';
import { acquire, settle } from './model-calls.ts';
import { confirmRecovered, control, declare, end, resume, step } from './model-control.ts';
import { hear } from './model-fleet.ts';
import { type How, judged } from './model-judge.ts';
import { extend, isOfModels, metricsOfModels } from './model-models.ts';
import { force } from './model-operator.ts';
import { keep, restored } from './model-sessions.ts';
import { foreseenBy, hangs, keyViewsOf, permitOf, viewOf } from './model-view.ts';
import { at, begin, list, type Pair, reportOf, type Slot, type World } from './world.ts';

type Asked = Extract<Happening, { kind: 'acquire' | 'call' }>;

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
        const asked = what.key === 'each' ? { ...what, key: at(['k', 'l', 'm'], i) } : what;
        const pair = acquireBoth(world, at(world.slots, what.slot), asked);
        settleBoth(world, pair, what.how);
        if (world.underWay.at(-1) === pair) world.underWay.pop();
      }
      break;
    case 'ask':
    case 'begin_ask':
      askBoth(world, what);
      break;
    case 'extend': {
      const ofModels = world.underWay.filter(({ of }) => of === world.ofModels);
      if (ofModels.length > 0) extendBoth(world, at(ofModels, what.which), what.forMs);
      break;
    }
    case 'list':
      list(world, at(world.processes, what.process), what.models);
      break;
    default:
      toSession(world, what.slot % SLOTS, what);
  }
  compare(world);
};

const acquireBoth = (world: World, { session, model }: Slot, { kind, tool, input, key }: Asked): Pair => {
  // C11: it says what the decision will be, and changes nothing. A pre-call check may be asked by it (K3).
  // A key of an adapter is not known to explain().
  const looks = kind === 'acquire' && world.model.health.size === 0 && key === undefined;
  const foreseen = looks ? session.explain(tool, input) : undefined;
  const permit = session.acquire(tool, { input, key });
  const expected = acquire(world.model, model, tool, input, key);
  const { decision, reason, caution, state, wouldDecide, budgetRemaining, message } = permit;
  same(
    { decision, reason, caution, state, wouldDecide, budgetRemaining, words: message !== '' },
    permitOf(expected, world.model),
  );
  if (foreseen) same([foreseen.decision, foreseen.reason], [decision, reason]);
  const pair = { permit, model: expected, of: world.model };
  (expected.settled ? world.over : world.underWay).push(pair);
  return pair;
};

type Ask = Extract<Happening, { kind: 'ask' | 'begin_ask' }>;

/** L2: a call of a model. What a run pays is nothing to it. */
const askBoth = (world: World, { kind, process, model: short, how, times, tenant }: Ask): void => {
  const { session, model, handles } = at(world.processes, process).models;
  const name = `model:${short}`;
  for (let i = 0; i < times; i += 1) {
    const permit = session.acquire(name, tenant === undefined ? undefined : { key: tenant });
    const expected = acquire(world.ofModels, model, name, undefined, tenant);
    const { budgetRemaining: _, ...decided } = permitOf(expected, world.ofModels);
    const { decision, reason, caution, state, wouldDecide, message } = permit;
    same({ decision, reason, caution, state, wouldDecide, words: message !== '' }, { ...decided, caution: false });
    const pair = { permit, model: expected, of: world.ofModels, handle: handles.get(name) };
    if (kind === 'begin_ask' && !expected.settled) world.underWay.push(pair);
    else settleBoth(world, pair, how);
  }
};

const extendBoth = ({ ofModels }: World, { permit, model, handle }: Pair, forMs: number): void => {
  handle?.extend(permit, forMs);
  extend(ofModels, model, forMs);
};

const settleBoth = (world: World, pair: Pair, how: How): void => {
  settleReal(pair.permit, how);
  settle(pair.of, pair.model, judged(pair.of, pair.model, how));
  const { note, wouldDecide } = pair.permit;
  same({ circle: note.includes('made 3 times over') }, { circle: pair.model.circle && wouldDecide === undefined }); // D5, C1
  // A fleet's latest orders are taken up at the next use, so there the next decision may differ.
  if (world.model.config.fleet === undefined) compareAdvice(pair);
  world.over.push(pair);
};

/** R5. */
const compareAdvice = ({ permit: { message, route }, model: { decision, advice } }: Pair): void => {
  const words = decision === 'skip' || decision === 'pause' || advice !== undefined;
  const kind = route?.kind === 'alternative' ? 'defer' : route?.kind; // The model knows no routes.
  same({ words: message !== '', kind }, { words, kind: words ? 'defer' : undefined });
};

const settleReal = (permit: Permit, how: How): void => {
  if ('says' in how) {
    const { says, ...rest } = how;
    permit.settle({ result: { says }, ...rest });
    return;
  }
  const { outcome, category, retryAfterMs, tokens, blames } = how;
  const told = {
    ...(category && { category }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(blames && { blames }),
  };
  permit.settle(outcome === 'success' ? { outcome, tokens, result: tokens } : { outcome, ...told, tokens });
};

type Restart = Extract<Happening, { kind: 'restart' }>;
type ToSession = Extract<Happening, { slot: number }> extends infer Of ? Exclude<Of, Asked> : never;

const toSession = (world: World, index: number, what: ToSession): void => {
  const slot = at(world.slots, index);
  const { session } = slot;
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
      session.declare(what.tool, { group: what.group });
      declare(world.model, slot.model, what.tool, what.group);
      break;
    case 'control':
      controlBoth(world, slot, what);
      break;
    case 'force':
      forceBoth(world, slot, what);
      break;
    case 'order':
      slot.process.circuits?.feed(what.name, what.order);
      hear(world.model, slot.process.modelBox, what.name, what.order);
      break;
    case 'end':
      session.end();
      end(slot.model);
      break;
    case 'begin':
      world.left.push(slot);
      world.slots[index] = begin(world);
      break;
    case 'restart':
      world.slots[index] = restart(world, slot, what);
  }
};

/** C11: the session ends here, and goes on in the other process when it has waited. */
const restart = (world: World, { process, session, model: old }: Slot, what: Restart): Slot => {
  const { model, processes } = world;
  const { waitMs = 0, elapsedMs } = what;
  const other = at(processes, processes.indexOf(process) + 1);
  const snapshot: unknown = JSON.parse(JSON.stringify(snapshotOf(session)));
  const kept = keep(model, old);
  session.end();
  end(old);
  model.ms += waitMs;
  // C18: a snapshot has no functions.
  const tools = Object.values(old.tools).some(({ key }) => typeof key === 'function') && old.tools;
  const options = { ...(elapsedMs !== undefined && { elapsedMs }), ...(tools && { tools }) };
  const restoredSession = restore(other.box, snapshot, options);
  const laterMs = elapsedMs === undefined ? 0 : elapsedMs - waitMs;
  return { process: other, session: restoredSession, model: restored(model, kept, other.modelBox, laterMs) };
};

const controlBoth = (world: World, slot: Slot, { tool, mode }: Extract<Happening, { kind: 'control' }>): void => {
  const refused = isRefused(() => slot.session.control(tool, mode));
  same({ refused }, { refused: !control(world.model, slot.model, tool, mode) });
};

const forceBoth = (
  { model, ofModels }: World,
  { process }: Slot,
  what: Extract<Happening, { kind: 'force' }>,
): void => {
  const { tool, owner, mode, expiresInMs } = what;
  const operator = operate(process.box);
  const refused = isRefused(() => {
    if (mode === undefined) operator.release(tool, { owner });
    else operator.force(tool, { owner, mode, expiresInMs, reason: 'proof' });
  });
  const forced = { tool, owner, mode, untilMs: model.ms + expiresInMs };
  const { box } = process.models.model;
  const isForced = isOfModels(box, tool) ? force(ofModels, box, forced) : force(model, process.modelBox, forced);
  same({ refused }, { refused: !isForced });
};

const isRefused = (run: () => void): boolean => {
  try {
    run();
    return false;
  } catch (error) {
    if (!(error instanceof BreakerboxUsageError)) throw error;
    return true;
  }
};

/** C11: what is seen after each call; looking changes nothing, or the next comparison would show it. */
const compare = (world: World): void => {
  const { model, ofModels, processes, slots, told, resolved } = world;
  for (const { session, model: expected, process } of slots) {
    const { systemic, limits = [], ...view } = session.view();
    same(
      {
        ...view,
        systemic: systemic && reportOf(systemic, process.originMs),
        limits: limits.map(({ limit, size, used, mode, level }) => ({ limit, size, used, mode, level })),
      },
      viewOf(model, expected),
    );
    for (const circuit of view.circuits) same(session.peek(circuit.tool), circuit);
    for (const { tool, key, view: ofKey } of keyViewsOf(model, expected)) {
      same(session.peek(tool, { url: `https://${key}` })?.key, ofKey);
    }
  }
  if (model.health.size === 0 && model.config.fleet === undefined)
    for (const slot of slots) if (hangs(model, slot.model)) compareForeseen(world, slot);
  for (const { models } of processes) compareModels(ofModels, models);
  for (const by of model.told.flatMap((line) => (line.includes(' systemic.resolved ') ? [line.split(' ').at(-1)] : [])))
    if (by !== undefined) resolved.set(by, (resolved.get(by) ?? 0) + 1);
  same(bySession(told.splice(0)), bySession(model.told.splice(0)));
};

/** C11, C9: what a look ahead says of the next calls, with and without known arguments, before a use notices that a probe hangs. */
const compareForeseen = ({ model, foreseen }: World, { session, model: expected }: Slot): void => {
  for (const input of [undefined, 'x']) {
    for (const { tool, reason } of foreseenBy(model, expected, input)) {
      same([tool, session.explain(tool, input).reason], [tool, reason]);
      foreseen.set(reason, (foreseen.get(reason) ?? 0) + 1);
    }
  }
  const unavailable = foreseenBy(model, expected, undefined).flatMap((one) => (one.isUnavailable ? [one.tool] : []));
  same(session.unavailable(), unavailable);
};

/** L2: a model knows no event, no budget and no limit. */
const compareModels = (ofModels: World['ofModels'], { session, model }: Pick<Slot, 'session' | 'model'>): void => {
  const { id, state, circuits, systemic, limits } = session.view();
  same({ id, state, circuits, systemic, limits }, { ...seen(viewOf(ofModels, model)), limits: undefined });
  for (const circuit of circuits) same(session.peek(circuit.tool), circuit);
};

const seen = ({ id, state, circuits, systemic }: ReturnType<typeof viewOf>) => ({ id, state, circuits, systemic });

/** C12: each session tells in order; when one notices what is another's, theirs may come in between. */
const bySession = (lines: readonly string[]): readonly string[] => {
  const idOf = (line: string) => line.slice(0, line.indexOf(' '));
  return [...lines].sort((a, b) => (idOf(a) < idOf(b) ? -1 : Number(idOf(a) > idOf(b))));
};

/** Ends everything, and compares what the metrics have counted before and after. */
export const finish = ({ model, ofModels, metricsBefore, slots, left }: World): void => {
  const compareAll = () => compareMetrics(model, metricsBefore, metricsOfModels(ofModels, UNIX_START));
  compareAll();
  for (const { session, model: one } of [...slots, ...left]) {
    session.end();
    end(one);
  }
  compareAll(); // No leaks: nothing is left in the gauges.
};
