import { createBreakerbox } from '@breakerbox/core';
import { boxModels } from '@breakerbox/core/internal';
import { guardModels, ModelsUnavailableError } from '@breakerbox/instrumentation';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newModel } from '../../packages/core/src/proof/model.ts';
import { listModels, newModelSession, newModels } from '../../packages/core/src/proof/model-models.ts';
import { viewOf } from '../../packages/core/src/proof/model-view.ts';
import { type Ending, Failover, type Fate, type Plan } from './failover-rules.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Random cases of a run. A case that fails prints the seed and path that bring it back. */
const CASES = Number(process.env.BREAKERBOX_MODEL_CASES ?? 1_000);

/** What cases must reach, or they prove nothing: so many times at least in 1,000 cases. */
const REACHED: Readonly<Record<string, number>> = {
  'answered by the first': 1_000,
  'answered by another': 1_000,
  'skipped at once': 500,
  'failed with all': 500,
  'own error': 200,
  left: 50,
  'until when': 500,
};

const NAMES = ['p/x', 'p/y', 'q/z', 'r/w'];
const list = fc.shuffledSubarray(NAMES, { minLength: 1 });
const fate = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Fate>('answer') },
  { weight: 6, arbitrary: fc.constantFrom<Fate>(529, 529, 'cut', 'hang', 429, 401, 402, 403, 404, 400, 413) },
);
const fates = fc.oneof(
  fc.record({ 'p/x': fate, 'p/y': fate, 'q/z': fate, 'r/w': fate }),
  fc.constantFrom<Fate>(529, 401, 'answer', 'hang').map((one) => Object.fromEntries(NAMES.map((name) => [name, one]))),
);
type Happening =
  | { readonly kind: 'ask'; readonly which: number; readonly plan: Plan }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'leave'; readonly which: number; readonly byTimeout: boolean };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      which: fc.nat(1),
      plan: fc.record({
        fates,
        ms: fc.constantFrom(0, 0, 0, 1_000, 90_000, 150_000),
        tenant: fc.constantFrom('t', 't', 'u'),
      }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 999, 5_000, 59_999, 60_000, 60_001, 120_000, 300_000, 300_001),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('leave' as const), which: fc.nat(3), byTimeout: fc.boolean() }),
  },
);

const cases = fc.record({
  lists: fc.tuple(list, list),
  hasTenants: fc.constantFrom(false, false, true),
  nextIfTooLong: fc.boolean(),
  all: fc.array(happening, { minLength: 3, maxLength: 40, size: 'max' }),
});
type Case = typeof cases extends fc.Arbitrary<infer One> ? One : never;

/** As providers answer. */
const errorOf = (fate: Exclude<Fate, 'answer' | 'hang'>): unknown => {
  if (fate === 'cut') return Object.assign(new Error('cut'), { fate, code: 'ECONNRESET' });
  const headers = fate === 429 ? { 'retry-after': '70' } : {};
  return Object.assign(new Error(`${fate}`), { fate, status: fate, headers });
};

const fateOf = (error: unknown): Fate | undefined =>
  (error as { name?: string }).name === 'ModelStreamError' ? 'hang' : (error as { fate?: Fate }).fate;

const REASONS = { true: new DOMException('too slow', 'TimeoutError'), false: new DOMException('left', 'AbortError') };

const endingOf = (error: unknown): Ending => {
  if (error === REASONS.true) return { error: 'timeout' };
  if (error === REASONS.false) return { error: 'left' };
  if (!(error instanceof ModelsUnavailableError)) return { error: fateOf(error) ?? 'answer' };
  const unanswered = error.models.map(({ model, why }) => ({ model, why: why as 'failed' | 'skipped' }));
  return { unanswered, cause: error.cause === undefined ? undefined : fateOf(error.cause) };
};

const settled = () => vi.advanceTimersByTimeAsync(0);

/** The guard over functions, and the rules, to which the same happens. */
const play = async ({ lists, hasTenants, nextIfTooLong, all }: Case, reached: (what: string) => void) => {
  const agent = 'failover';
  const box = createBreakerbox({ agent });
  const calls: string[] = [];
  const endings = new Map<number, Ending>();
  const leaving = new Map<number, AbortController>();
  const asked = lists.map((names) =>
    guardModels<{ id: number; plan: Plan }, string>(box, {
      ...(hasTenants && { tenant: ({ plan }) => plan.tenant ?? '' }),
      ...(nextIfTooLong && { onContextTooLong: 'next' as const }),
      models: names.map((name) => ({
        name,
        call: async ({ id, plan }) => {
          calls.push(`${id} ${name}`);
          const given = plan.fates[name] ?? 'answer';
          if (plan.ms > 0 || given === 'hang')
            await new Promise<void>((resolve) => given !== 'hang' && setTimeout(resolve, plan.ms));
          if (given === 'answer' || given === 'hang') return name;
          throw errorOf(given);
        },
      })),
    }),
  );
  const tools = newModel({ agent }, new Map(), new Map());
  const models = newModels(tools);
  const session = newModelSession(models);
  for (const names of lists) listModels(tools, session, names);
  const rules = new Failover(tools, models, session, nextIfTooLong);
  const startUnixMs = Date.now();
  const told = (id: number, names: readonly string[], ending: Ending): void => {
    endings.set(id, ending);
    if ('answer' in ending) reached(ending.answer === names[0] ? 'answered by the first' : 'answered by another');
    else if ('error' in ending) reached(ending.error === 'left' || ending.error === 'timeout' ? 'left' : 'own error');
    else reached(ending.cause === undefined ? 'skipped at once' : 'failed with all');
  };
  /** L5: the error says until when a model is skipped: right then it is called again, and not before. */
  const compareTimes = (error: ModelsUnavailableError): void => {
    if (rules.waiting.length > 0) return; // What comes of those calls would change it.
    for (const { model, why, untilUnixMs } of error.models) {
      if (why !== 'skipped' || untilUnixMs === undefined) continue;
      const untilMs = untilUnixMs - startUnixMs;
      reached('until when');
      expect([rules.decisionAt(model, untilMs - 1), rules.decisionAt(model, untilMs)]).toEqual(['skip', 'probe']);
    }
  };
  for (const [id, what] of all.entries()) {
    switch (what.kind) {
      case 'ask': {
        const plan = hasTenants ? what.plan : { ...what.plan, tenant: undefined };
        const names = lists[what.which] as readonly string[];
        const leave = new AbortController();
        leaving.set(id, leave);
        const answer = asked[what.which]?.({ id, plan }, { signal: leave.signal });
        let failed: unknown;
        answer?.then(
          (model) => told(id, names, { answer: model }),
          (error: unknown) => {
            failed = error;
            told(id, names, endingOf(error));
          },
        );
        rules.ask(id, names, plan);
        await settled();
        if (failed instanceof ModelsUnavailableError && failed.cause === undefined) compareTimes(failed);
        break;
      }
      case 'wait':
        rules.pass(what.ms);
        await vi.advanceTimersByTimeAsync(what.ms);
        break;
      case 'leave': {
        const one = rules.waiting[what.which];
        if (one === undefined) break;
        rules.leave(one, what.byTimeout);
        leaving.get(one)?.abort(REASONS[`${what.byTimeout}`]);
        await settled();
      }
    }
    expect(calls).toEqual(rules.calls);
    expect([...endings].sort()).toEqual([...rules.endings].sort());
    expect(boxModels(box).session.view().circuits).toEqual(viewOf(models, session).circuits);
  }
  for (const leave of leaving.values()) leave.abort(REASONS.false);
  await settled();
};

test('L2, L3, L5: random requests go to the models that the rules name', { timeout: 600_000 }, async () => {
  const reached: Record<string, number> = {};
  const count = (what: string): void => {
    reached[what] = (reached[what] ?? 0) + 1;
  };
  await fc.assert(
    fc.asyncProperty(cases, (one) => play(one, count)),
    { numRuns: CASES },
  );
  for (const [what, atLeast] of Object.entries(REACHED))
    expect(reached[what] ?? 0, `how often cases reached '${what}'`).toBeGreaterThanOrEqual((atLeast * CASES) / 2_000);
});
