import { describe, expect, test, vi } from 'vitest';
import { type Breakerbox, createBreakerbox } from '../breakerbox.ts';
import { NO_LIMIT } from '../budget/budget.ts';
import type { BreakerboxConfig } from '../config/config.ts';
import { operate } from '../control/operator.ts';
import { reconfigure } from '../control/reconfigure.ts';
import { shareCircuits } from '../fleet/share-circuits.ts';
import { formatReport, report } from '../report/report-entry.ts';
import { openSeries } from '../telemetry/readers.ts';
import { ATTR, METRIC } from '../telemetry/semconv.ts';
import { failOnce, manualClock, succeedOnce, watchWarnings } from '../test-support.ts';
import { boxModels } from './model-session.ts';

const bench = (config: Partial<BreakerboxConfig> = {}) => {
  const clock = manualClock();
  const box = createBreakerbox({ agent: 'models', tools: { search: {} }, clock, ...config });
  const models = boxModels(box);
  models.declare({ name: 'openai/gpt-5', group: 'openai', hasFallback: true });
  models.declare({ name: 'openai/gpt-5-mini', group: 'openai', hasFallback: true });
  models.declare({ name: 'anthropic/claude', group: 'anthropic', hasFallback: false });
  return { box, clock, models: models.session };
};

const GPT = 'model:openai/gpt-5';
const MINI = 'model:openai/gpt-5-mini';
const CLAUDE = 'model:anthropic/claude';

test('L2: a model opens after 2 failures with another one behind it, after 5 without, and waits 60 s', () => {
  const { models, clock } = bench();
  const failures = (model: string) => {
    let count = 0;
    while (failOnce(models, model, 'server') === 'call') count += 1;
    return count;
  };
  expect(failures(GPT)).toBe(2);
  expect(failures(CLAUDE)).toBe(5);
  clock.advance(59_999);
  expect(models.acquire(GPT).decision).toBe('skip');
  clock.advance(1);
  expect(succeedOnce(models, GPT)).toBe('probe');
  expect(models.acquire(GPT).decision).toBe('call');
});

test.each(['session', 'process', 'none'] as const)('L2: the box owns the circuits of models in scope %s', (scope) => {
  const { box } = bench({ scope });
  failOnce(boxModels(box).session, GPT);
  failOnce(boxModels(box).session, GPT);
  expect(boxModels(box).session.acquire(GPT).decision).toBe('skip');
});

test('L2: what blames the provider opens the circuit of all its models at once', () => {
  const { models } = bench();
  models.acquire(GPT).settle({ outcome: 'failure', category: 'permission', blames: 'group' });
  expect(models.acquire(MINI)).toMatchObject({ decision: 'skip', reason: 'group_open' });
  expect(models.acquire(CLAUDE).decision).toBe('call');
});

test('L2: a model is no tool: in no list, no note, no budget, and no evidence for a correlated failure', () => {
  const { box, models } = bench({ budget: { failures: 2 } });
  const session = box.session();
  const detected = vi.fn<() => void>();
  box.on('systemic.detected', detected);
  for (const model of [GPT, MINI, CLAUDE]) for (let i = 0; i < 6; i += 1) failOnce(models, model, 'network');
  expect(box.tools).toEqual(['search']);
  expect(session.unavailable()).toEqual([]);
  expect(session.note()).toBe('');
  expect(session.view().state).toBe('active');
  expect(session.acquire('search').decision).toBe('call');
  expect(detected).not.toHaveBeenCalled();
});

test('L2: a pause of the session does not stop models, and models do not pause', () => {
  const { box, models } = bench({ budget: { failures: 1 }, systemic: false });
  const session = box.session();
  failOnce(session, 'search');
  expect(session.acquire('search').decision).toBe('pause');
  for (let i = 0; i < 50; i += 1) failOnce(models, CLAUDE, 'server');
  expect(models.acquire(GPT).decision).toBe('call');
});

test('L2: settings of models are like those of tools, and can change while the box lives', () => {
  const { box, models } = bench({ models: { 'openai/gpt-5': { failureThreshold: 1, cooldownMs: 5_000 } } });
  failOnce(models, GPT);
  expect(models.acquire(GPT).decision).toBe('skip');
  reconfigure(box, (config) => ({ ...config, models: { 'openai/gpt-5-mini': { mode: 'disabled' } } }));
  for (let i = 0; i < 9; i += 1) failOnce(models, MINI, 'rate_limit');
  expect(models.acquire(MINI).reason).toBe('disabled');
});

test('L2: wrong settings of models are faults', () => {
  const config = { agent: 'a', models: { 'openai/gpt-5': { failureThreshold: 0, group: 'x' } } };
  expect(() => createBreakerbox(config as never)).toThrow(/models\.openai\/gpt-5\.(?:failureThreshold|group)/);
  const price = { agent: 'a', models: { 'openai/gpt-5': { price: { input: 1, output: -1 } } } };
  expect(() => createBreakerbox(price as never)).toThrow(/price\.output/);
  const half = { agent: 'a', models: { 'openai/gpt-5': { price: { input: 1, output: 2 } } } };
  expect(() => createBreakerbox(half as never)).toThrow(/price\.currency: is missing/);
});

test('E6: the settings of a model have its name without the prefix', () => {
  const models = { 'model:openai/gpt-5': {} };
  expect(() => createBreakerbox({ agent: 'a', models })).toThrow(
    /models\['model:openai\/gpt-5'\]: .*Leave the prefix out/,
  );
});

test('E6: a tool whose name begins with model: is a fault, and one that a server lists has no circuit', () => {
  const tools = { 'model:gpt': {} };
  expect(() => createBreakerbox({ agent: 'a', tools })).toThrow(/Names that begin with 'model:' are reserved/);
  const warnings = watchWarnings();
  const box = createBreakerbox({ agent: 'a' });
  expect(() => box.declare('model:gpt')).toThrow(/reserved/);
  box.session().declare('model:gpt');
  expect(box.tools).toEqual([]);
  expect(warnings().join()).toContain('BREAKERBOX_RESERVED_NAME');
});

test('L2: operators force the mode of a model, and find its session', () => {
  const { box, models } = bench();
  const operator = operate(box);
  expect(operator.knows(GPT)).toBe(true);
  operator.force(GPT, { mode: 'forced_open', owner: 'ada', reason: 'costs' });
  expect(models.acquire(GPT).reason).toBe('forced_open');
  operator.release(GPT, { owner: 'ada' });
  expect(models.acquire(GPT).decision).toBe('call');
  const view = operator.session('models')?.view;
  expect(view?.circuits.map(({ tool }) => tool)).toContain(GPT);
  expect(view?.budget.limit).toBe(NO_LIMIT); // Shown as no budget.
});

test('L7: circuits and calls of models are exported, their session is not', () => {
  const reader = openSeries({ insteadOfSdk: false, exemplars: false });
  const { box } = bench({ agent: 'counted' });
  const { session, declare } = boxModels(box);
  const handle = declare({ name: 'openai/gpt-5', group: 'openai', hasFallback: true });
  failOnce(session, GPT);
  failOnce(session, GPT);
  handle?.answered({ position: 'fallback', primary: CLAUDE }, { input: 11, output: 7 });
  handle?.unanswered();
  const read = (metric: keyof typeof METRIC) =>
    [...reader.numbers(METRIC[metric])]
      .filter(({ attributes, value }) => attributes[ATTR.agent] === 'counted' && value !== 0)
      .map(({ attributes: { [ATTR.agent]: _, ...rest }, value }) => ({ ...rest, value }));
  const model = { [ATTR.tool]: GPT };
  expect(read('sessions')).toEqual([]);
  expect(read('budgetConsumed')).toEqual([]);
  expect(read('circuits')).toContainEqual({ ...model, [ATTR.state]: 'open', value: 1 });
  expect(read('modelAnswers')).toEqual([{ ...model, [ATTR.position]: 'fallback', [ATTR.primary]: CLAUDE, value: 1 }]);
  expect(read('modelTokens')).toEqual([
    { ...model, [ATTR.tokenType]: 'input', value: 11 },
    { ...model, [ATTR.tokenType]: 'output', value: 7 },
  ]);
  expect(read('modelFailures')).toEqual([{ ...model, value: 1 }]);
  expect(read('modelCost')).toEqual([]); // No price is known.
  reader.close();
});

test('L7: what a model has used costs the price of the configuration, the cache apart', () => {
  const reader = openSeries({ insteadOfSdk: false, exemplars: false });
  const price = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, currency: 'USD' };
  const { box } = bench({ agent: 'priced', models: { 'openai/gpt-5': { price } } });
  const handle = boxModels(box).declare({ name: 'openai/gpt-5', group: 'openai', hasFallback: true });
  const answer = { position: 'primary', primary: GPT } as const;
  const counts = { input: 1_000_000, cacheRead: 500_000, cacheWrite: 100_000, output: 10_000 };
  const cost = 0.4 * 2 + 0.5 * 0.2 + 0.1 * 2.5 + 0.01 * 10;
  expect(handle?.answered(answer, counts)).toEqual({ tokens: 1_010_000, cost, currency: 'USD' });
  expect(handle?.answered(answer, {})).toEqual({ tokens: undefined, cost: undefined, currency: undefined });
  expect(handle?.answered(answer, { input: Number.NaN, output: -1 })).toMatchObject({ tokens: 0, cost: 0 });
  const others = { cacheRead: 2, cacheWrite: 3 }; // More than was read.
  expect(handle?.answered(answer, { input: 1, ...others })).toMatchObject({ tokens: 1, cost: 0.2 / 1_000_000 });
  const series = [...reader.numbers(METRIC.modelCost)].filter(({ attributes }) => attributes[ATTR.agent] === 'priced');
  expect(series).toHaveLength(1);
  expect(series[0]?.attributes).toMatchObject({ [ATTR.tool]: GPT, [ATTR.currency]: 'USD' });
  expect(series[0]?.value).toBeCloseTo(cost, 5);
  reconfigure(box, (config) => ({ ...config, models: { 'openai/gpt-5': { price: { ...price, output: 20 } } } }));
  expect(handle?.answered(answer, { output: 1_000_000 })?.cost).toBe(20);
  reader.close();
});

describe('G2: models that a fleet shares', () => {
  const SHARED = { 'openai/gpt-5': { share: 'fleet' } } as const;
  const fleetOf = () => {
    const joined: object[] = [];
    return { joined, fleet: { join: (box: object) => void joined.push(box) } };
  };

  test.each(['session', 'process', 'none'] as const)('they are a box of their own, in scope %s', (scope) => {
    const { joined, fleet } = fleetOf();
    const { box, models } = bench({ scope, fleet, models: SHARED });
    expect(joined).toHaveLength(2);
    const [ofTools, ofModels] = joined.map((one) => shareCircuits(one as Breakerbox));
    expect(operate(joined[1] as Breakerbox)).toBe(operate(box));
    expect([ofModels?.isShared(GPT), ofModels?.isShared(MINI), ofModels?.isShared('search')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(ofTools?.isShared(GPT)).toBe(false);
    const told: unknown[] = [];
    ofModels?.onChange((change) => told.push(change));
    failOnce(models, GPT);
    failOnce(models, GPT);
    expect(ofModels?.circuit(GPT)).toMatchObject({ state: 'open', category: 'network' });
    ofModels?.feed(GPT, { order: 'recover', dueInMs: 0 });
    expect(models.acquire(GPT).decision).toBe('probe');
  });

  test('an opening of the fleet skips a model here, and no tool', () => {
    const { joined, fleet } = fleetOf();
    const { box, models } = bench({ scope: 'process', fleet, models: SHARED, defaults: { share: 'fleet' } });
    const [ofTools, ofModels] = joined.map((one) => shareCircuits(one as Breakerbox));
    ofModels?.feed(GPT, { order: 'hold', category: 'server', ageMs: 0, waitMs: 60_000 });
    ofTools?.feed(MINI, { order: 'hold', category: 'server', ageMs: 0, waitMs: 60_000 });
    expect(models.acquire(GPT).decision).toBe('skip');
    expect(models.acquire(MINI).decision).toBe('call');
    expect(box.session().acquire('search').decision).toBe('call');
  });

  test('without a model that is shared, no second box joins', () => {
    const { joined, fleet } = fleetOf();
    bench({ scope: 'process', fleet });
    expect(joined).toHaveLength(1);
  });

  test('share needs a fleet, and cannot change while the box lives', () => {
    const { fleet } = fleetOf();
    expect(() => bench({ models: SHARED })).toThrow(
      /models\.openai\/gpt-5\.share: is 'fleet', but the box has no fleet/,
    );
    expect(() => bench({ fleet })).toThrow(/fleet: needs scope 'process'/);
    const tools = { search: { share: 'fleet' } } as const;
    expect(() => bench({ fleet, models: SHARED, tools })).toThrow(/tools\.search\.share: .*needs scope 'process'/);
    const { box } = bench({ fleet, models: SHARED });
    expect(() => box.declare('late', { share: 'fleet' })).toThrow(/tools\.late\.share/);
    expect(() => reconfigure(box, ({ models: _, ...rest }) => ({ ...rest, scope: 'session' }))).toThrow(/share/);
  });
});

test('L2: the report of the models of a box speaks of models', () => {
  const { models } = bench();
  failOnce(models, GPT, 'server');
  failOnce(models, GPT, 'server');
  models.acquire(CLAUDE).settle({ outcome: 'failure', category: 'resource', blames: 'group' });
  expect(formatReport(report(models))).not.toContain('transport');
  const text = formatReport(report(models));
  expect(text).toContain(
    '2 of 2 models are unavailable: provider anthropic (resource) and\nmodel:openai/gpt-5 (server).',
  );
  expect(text).toContain('Unavailable models\n  model ');
  models.acquire(GPT);
  expect(formatReport(report(models))).toMatch(/model:openai\/gpt-5: 1 call skipped \(open\)\.\s*$/);
  expect(text).not.toMatch(/tool|budget/i);
});
