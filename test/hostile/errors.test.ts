import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { snapshot } from '@breakerbox/core/snapshot';
import { guard } from '@breakerbox/instrumentation';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newAgent, type Observed, observe } from './observed.ts';

let observed: Observed;
beforeAll(async () => {
  observed = await observe();
});
afterAll(() => observed.stop());

const AGENT = newAgent();
const MEGABYTE = 1_000_000;

const throwing = (): never => {
  throw new Error('it was read');
};

/** Every read of it throws. */
const untouchable = new Proxy(() => {}, {
  get: throwing,
  has: throwing,
  ownKeys: throwing,
  getPrototypeOf: throwing,
  getOwnPropertyDescriptor: throwing,
  apply: throwing,
});

const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable(new Error('gone'), {});
  revoke();
  return proxy;
};

const withGetters = (): Error => {
  const error = new Error('x');
  for (const key of ['message', 'name', 'stack', 'cause', 'code', 'status', 'errors', 'constructor', 'headers']) {
    Object.defineProperty(error, key, { get: throwing, enumerable: true });
  }
  return error;
};

const cyclic = (): Error => {
  const a = new Error('a');
  const b = new AggregateError([a, a], 'b', { cause: a });
  b.errors.push(b);
  a.cause = b;
  return a;
};

const deep = (): Error => {
  let error = new Error('the first');
  for (let depth = 0; depth < 100_000; depth += 1) error = new Error('and then', { cause: error });
  return error;
};

const wide = (): AggregateError =>
  new AggregateError(
    Array.from({ length: 100_000 }, (_, index) => new Error(`one of many ${index}`)),
    'all of them',
  );

/** Returns a new value each time that it is read, without end. */
const endless = (): unknown =>
  new Proxy(() => {}, { get: (_, key) => (key === 'then' || typeof key === 'symbol' ? undefined : endless()) });

/** Values that tools throw, or that come from a JSON body or another realm. */
const THROWN: Readonly<Record<string, unknown>> = {
  'a message of a megabyte': new Error(`SECRET ${'x'.repeat(MEGABYTE)}`),
  'a megabyte that is nearly a match': new Error(`SECRET ${'status code of connect to '.repeat(40_000)}`),
  'a name and a code of a megabyte': Object.assign(new Error('SECRET'), {
    name: 'N'.repeat(MEGABYTE),
    code: 'C'.repeat(MEGABYTE),
  }),
  'a text of a megabyte': `SECRET ${'\u001b[2J'.repeat(MEGABYTE / 4)}`,
  'a cycle of causes': cyclic(),
  'a hundred thousand causes': deep(),
  'a hundred thousand errors in one error': wide(),
  'an error whose properties throw': withGetters(),
  'a proxy that throws at every access': untouchable,
  'a revoked proxy': revoked(),
  'an endless proxy': endless(),
  'an object without a prototype': Object.create(null),
  'an object whose string conversions throw': { toString: throwing, toJSON: throwing, [Symbol.toPrimitive]: throwing },
  'a frozen error': Object.freeze(new Error('SECRET')),
  'a message that is not a string': Object.assign(new Error('x'), {
    message: { toString: throwing },
    status: {},
    code: [],
  }),
  // biome-ignore lint/suspicious/noThenProperty: the thrown value may look like a promise
  'an error with a `then`': Object.assign(new Error('x'), { then: throwing }),
  'an infinite Retry-After': Object.assign(new Error('x'), { status: 429, headers: { 'retry-after': '9e999' } }),
  'a negative Retry-After': Object.assign(new Error('x'), { status: 429, headers: { 'retry-after': '-1' } }),
  nothing: undefined,
  null: null,
  'an empty text': '',
  zero: 0,
  'not a number': Number.NaN,
  false: false,
  'a bigint': 10n,
  'a symbol': Symbol('SECRET'),
  'a function': throwing,
  'a promise': Promise.resolve('SECRET'),
  'a class': class extends Error {},
};

/** In a list, because the thrown value may have a `then` of its own. */
const caught = async (run: () => Promise<unknown>): Promise<readonly [unknown]> => {
  try {
    await run();
  } catch (error) {
    return [error];
  }
  throw new Error('it did not reject');
};

/** One more call, to show that the session still works. */
const expectSound = (session: Session): void => {
  expect(session.acquire('another').decision).toBe('call');
  expect(formatReport(report(session)).length).toBeLessThan(5_000);
  const text = JSON.stringify([report(session), snapshot(session)]);
  expect(text.length).toBeLessThan(10_000);
  expect(text).not.toContain('SECRET');
};

/** How often an outcome of the box's tools was counted. */
const outcomesOf = (box: Breakerbox): (() => number) => {
  let outcomes = 0;
  box.on('outcome', () => {
    outcomes += 1;
  });
  return () => outcomes;
};

describe('a tool that throws', () => {
  it.each(Object.entries(THROWN))('%s: the caller gets the same value, and the call is counted once', async (_, it) => {
    const box = createBreakerbox({ agent: AGENT });
    const outcomes = outcomesOf(box);
    const session = box.session();
    const tool = guard(session, 't', () => {
      throw it;
    });
    const spansBefore = observed.spans.length;
    const [error] = await caught(() => tool(undefined));
    expect(Object.is(error, it)).toBe(true);
    expect(outcomes()).toBe(1);
    expectSound(session);
    const spans = observed.spans.slice(spansBefore).filter(({ ended }) => ended);
    expect(spans).not.toEqual([]);
    expect(
      JSON.stringify(spans.map(({ name, attributes, events, status }) => [name, attributes, events, status])),
    ).not.toContain('SECRET');
  });

  it.each(Object.entries(THROWN))(
    '%s, in an async tool: has no other effect than opening the circuit or not',
    async (_, it) => {
      const session = createBreakerbox({ agent: AGENT, budget: { failures: 50 } }).session();
      const tool = guard(session, 't', async () => {
        throw it;
      });
      for (let call = 0; call < 3; call += 1) await caught(() => tool(undefined));
      expect(['open', 'closed']).toContain(session.peek('t')?.state);
      expectSound(session);
    },
  );
});

describe('a settlement by hand', () => {
  it.each(Object.entries(THROWN))('of the error %s never throws, and settles', (_, it) => {
    const box = createBreakerbox({ agent: AGENT, tools: { t: { classify: () => it as never } } });
    const outcomes = outcomesOf(box);
    const session = box.session();
    expect(() => session.acquire('t').settle({ error: it })).not.toThrow();
    expect(() => session.acquire('t').settle({ error: new Error('x'), signal: it as AbortSignal })).not.toThrow();
    expect(outcomes()).toBe(2);
    expectSound(session);
  });

  it.each(Object.entries(THROWN))('of the result %s never throws', (_, it) => {
    const box = createBreakerbox({ agent: AGENT, tools: { t: { labelFreshness: true, serveStaleMs: 1_000 } } });
    const outcomes = outcomesOf(box);
    const session = box.session();
    const results = [
      it,
      { error: it },
      { isError: true, content: it },
      { isError: true, content: [{ type: 'text', text: it }] },
    ];
    for (const [index, result] of results.entries()) {
      const permit = session.acquire('t', { input: { index } });
      expect(() => permit.settle({ result, tokens: it as number, durationMs: it as number })).not.toThrow();
    }
    expect(() => session.acquire('t', it as never).settle(it as never)).not.toThrow();
    expect(outcomes()).toBe(results.length + 1);
    expectSound(session);
  });
});

it('reports a string or a number that is given as a settlement, and does not quote it', () => {
  const session = createBreakerbox({ agent: AGENT }).session();
  const before = observed.reported.length;
  for (const settlement of ['SECRET', 7, true, null, undefined]) {
    expect(() => session.acquire('t').settle(settlement as never)).not.toThrow();
  }
  const reported = observed.reported.slice(before);
  expect(reported).toHaveLength(5);
  expect(reported.join('\n')).toContain("'t'");
  expect(reported.join('\n')).not.toContain('SECRET');
});

describe('a tool that returns a thenable', () => {
  it('with a `then` that throws: the caller gets the error', async () => {
    const session = createBreakerbox({ agent: AGENT }).session();
    const boom = new Error('boom');
    const tool = guard(session, 't', () => Object.defineProperty({}, 'then', { get: () => fail(boom) }));
    expect(await caught(() => tool(undefined))).toEqual([boom]);
  });

  it('that answers twice, and then throws: only its first answer counts', async () => {
    const agent = newAgent();
    const session = createBreakerbox({ agent }).session();
    const odd = {
      // biome-ignore lint/suspicious/noThenProperty: this tests a thenable
      then: (resolve: (value: string) => void, reject: (error: unknown) => void) => {
        resolve('first');
        reject(new Error('second'));
        throw new Error('third');
      },
    };
    const tool = guard(session, 't', () => odd as unknown as PromiseLike<string>);
    expect(await tool(undefined)).toBe('first');
    expect(await observed.sum('breakerbox_outcomes_total', agent, '="success"')).toBe(1);
    expect(await observed.sum('breakerbox_outcomes_total', agent)).toBe(1);
  });
});

const fail = (error: unknown): never => {
  throw error;
};

describe('listeners, classifiers, checks and readers that throw', () => {
  it.each(Object.entries(THROWN))('%s: no call is lost, and the circuit changes state as it should', async (_, it) => {
    const throws = () => fail(it);
    const box = createBreakerbox({
      agent: AGENT,
      defaults: { classify: throws, precheck: throws, labelFreshness: true },
    });
    for (const name of ['decision', 'outcome', 'circuit.transition', 'budget.exhausted'] as const) {
      box.on(name, throws);
      box.on(name, async () => fail(it));
    }
    const session = box.session();
    const tool = guard(session, 't', async (ok: boolean) => (ok ? 'fine' : fail(new Error('ECONNREFUSED'))), {
      tokens: throws,
      freshness: throws,
    });
    expect(await tool(true)).toBe('fine');
    for (let call = 0; call < 3; call += 1) await caught(() => tool(false));
    expect(session.peek('t')?.state).toBe('open');
    await box.precheck();
    expect(session.acquire('t').decision).toBe('skip');
    expect(report(session).tools[0]?.calls).toMatchObject({ made: 4, succeeded: 1, failed: 3, ignored: 0 });
  });
});
