import type { LimitsOptions } from '../index.ts';
import { count, type Ended, flush, type Model, type ModelPermit, type ModelRun, type ModelSession } from './model.ts';
import { nextMode } from './model-home.ts';
import { newRun } from './model-run.ts';

/** C11: what was under way counts as it was expected; what tools have reported is forgotten. What was told is not told again. */
export const restoreRun = (model: Model, session: ModelSession, kept: ModelRun): void => {
  session.run = { ...newRun(kept.ms), ...sums(kept), inStep: kept.inStep, isBefore: kept.isBefore };
  flushLimits({ ...model, told: [], counted: new Map() }, session);
};

/** D7: a limit is near, reached or lifted. The metrics count the first time of each. */
export const flushLimits = (model: Model, session: ModelSession): void => {
  for (const { limit, level, mode, spent, size } of limitsNow(model, session)) {
    const { levels } = session.run;
    const before = levels[limit];
    const pauses = level === 'reached' && mode === 'pause';
    const paused = levels[`${limit} pauses`] !== undefined;
    if (level === before && pauses === paused) continue;
    const isNew = level !== undefined && levels[`${limit} ${level}`] === undefined;
    const told = isNew && { [`${limit} ${level}`]: 'told' as const };
    session.run.levels = { ...levels, [limit]: level, [`${limit} pauses`]: pauses ? 'told' : undefined, ...told };
    const isLifted = before === 'reached' && (level !== 'reached' || paused); // C1: or all tools are only observed now.
    const is = isLifted ? 'lifted' : level === 'reached' ? level : isNew ? level : undefined;
    if (is !== undefined) flush(model, session, `limit.${is}`, limit, mode, spent, size);
    if (!isNew || is === 'lifted') continue;
    if (level === 'reached') count(model, `limits|${limit}|${pauses ? level : 'observed'}`);
    else if (mode !== 'observe') count(model, `limits|${limit}|${level}`);
  }
};

/** D3: what a call that is not over is expected to use counts as spent after that time. */
const LEASE_MS = 600_000;

const hasLapsed = ({ ms }: Model, one: ModelRun['expected'][number]): boolean => ms - one.ms >= LEASE_MS;

/** D3: whether the lease of a call has ended since the session was last used. */
export const lapseCalls = (model: Model, { run }: ModelSession): boolean => {
  const isNew = run.expected.some((one) => hasLapsed(model, one) && !one.isTold);
  if (isNew) run.expected = run.expected.map((one) => ({ ...one, isTold: hasLapsed(model, one) }));
  return isNew;
};

const sums = ({ calls, steps, tokens, expected }: ModelRun) => ({
  calls,
  steps,
  tokens: tokens + expected.reduce((sum, one) => sum + one.tokens, 0),
});

const NAMES = ['calls', 'steps', 'tokens', 'durationMs'] as const;

/** Each limit, as it is now. While all tools are only observed, none pauses (C1). */
const limitsNow = (model: Model, session: ModelSession) => {
  const tools = [...session.box.tools.keys()];
  const modes = tools.length === 0 ? [model.undeclared.mode] : tools.map((tool) => nextMode(model, session, tool));
  const isObserved = modes.every((mode) => mode === 'observe_only');
  return limitsOf(model, session).map(({ mode, ...limit }) => ({
    ...limit,
    mode: isObserved && mode === 'pause' ? ('observe' as const) : mode,
  }));
};

export const shownLimits = (model: Model, session: ModelSession) =>
  limitsNow(model, session).map(({ spent: _, ...limit }) => limit);

/** What is spent, too: calls under way are expected to use more, which pauses, but is not told. */
const limitsOf = (model: Model, { run }: ModelSession) =>
  NAMES.flatMap((limit) => {
    const { config, ms } = model;
    const given: LimitsOptions[typeof limit] = config.limits?.[limit];
    if (given === undefined) return [];
    const { limit: full, mode = 'pause' } = typeof given === 'number' ? { limit: given } : given;
    const kept = limit === 'durationMs' ? Math.min(full / 4, Math.max(full / 10, 5_000)) : 0; // D4
    const size = full - kept;
    const used = limit === 'durationMs' ? ms - run.ms : sums(run)[limit];
    const lapsed = run.expected.filter((one) => limit === 'tokens' && hasLapsed(model, one));
    const known = limit === 'durationMs' ? used : run[limit] - (limit === 'steps' && run.inStep ? 1 : 0);
    const spent = known + lapsed.reduce((sum, one) => sum + one.tokens, 0);
    const level = spent >= size ? 'reached' : spent >= size * 0.8 ? 'advised' : undefined;
    return [{ limit, size, used, spent, mode, level }];
  });

export const isOver = (model: Model, session: ModelSession): boolean =>
  limitsOf(model, session).some(
    ({ limit, used, size, mode }) => used >= size && mode === 'pause' && !(limit === 'steps' && session.run.inStep),
  );

export const isNear = (model: Model, session: ModelSession): boolean =>
  limitsOf(model, session).some(({ used, size, mode }) => used >= size * 0.8 && mode !== 'observe');

/** D3: what is spent pauses calls of tools that are not observed, whatever is under way. */
export const isSpent = (model: Model, session: ModelSession): boolean =>
  limitsOf(model, session).some(({ level, mode }) => level === 'reached' && mode === 'pause');

/** D7: what is shown, by what is spent. */
export const isReached = (model: Model, session: ModelSession): boolean =>
  limitsNow(model, session).some(({ level, mode }) => level === 'reached' && mode === 'pause');

/** D3: the most that one of the last 20 calls has used, and no more than is left. */
export const beginCall = (model: Model, session: ModelSession, id: number, tool: string): void => {
  if (!hasLimits(model)) return;
  count(model, 'spentCalls');
  const { run } = session;
  const most = Math.max(0, ...(run.reports.get(tool) ?? []).slice(-20));
  const limit = limitsOf(model, session).find((one) => one.limit === 'tokens' && one.mode === 'pause');
  const left = limit === undefined ? Infinity : Math.max(0, limit.size - limit.used);
  run.calls += 1;
  beginRunStep(model, session);
  run.expected = [...run.expected, { id, tokens: Math.min(most, left), ms: model.ms, isTold: false }];
};

/** D2: a step counts from its first call, if there is room for one. */
const beginRunStep = (model: Model, session: ModelSession): void => {
  const { run } = session;
  const isFull = limitsNow(model, session).some(
    ({ limit, used, size, mode }) => limit === 'steps' && mode === 'pause' && used >= size,
  );
  if (run.inStep || isFull) return;
  run.inStep = true;
  run.steps += 1;
};

/** D2: after a turn, one without a call counts now. Before each turn, the next one begins. */
export const endRunStep = (model: Model, session: ModelSession): void => {
  const { run } = session;
  run.isBefore ??= !run.inStep;
  const hasCalls = run.inStep;
  run.inStep = false;
  if (hasCalls && !run.isBefore) return;
  beginRunStep(model, session);
  run.inStep &&= run.isBefore;
};

const hasLimits = ({ config }: Model): boolean => Object.keys(config.limits ?? {}).length > 0;

export const endCall = (
  model: Model,
  { session: { run }, id, tool }: ModelPermit,
  { outcome, tokens = 0 }: Ended,
): void => {
  const expected = run.expected.find((one) => one.id === id)?.tokens ?? 0;
  run.expected = run.expected.filter((one) => one.id !== id);
  const says = tokens > 0 || outcome === 'success';
  run.tokens += says ? tokens : expected;
  if ((says ? tokens : expected) > 0) count(model, 'spentTokens', says ? tokens : expected);
  if (!says || (tokens === 0 && !run.reports.has(tool))) return;
  run.reports.set(tool, [...(run.reports.get(tool) ?? []), tokens]);
};
