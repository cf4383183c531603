import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { snapshot } from '@breakerbox/core/snapshot';
import { guard } from '@breakerbox/instrumentation';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heapOf } from './heap.ts';
import { newAgent, type Observed, observe } from './observed.ts';

let observed: Observed;
beforeAll(async () => {
  observed = await observe({ tracing: false });
});
afterAll(() => observed.stop());

const MEGABYTE = 1_000_000;

const linesOf = async (agent: string): Promise<number> =>
  (await observed.text()).split('\n').filter((line) => line.includes(agent)).length;

describe('a model that makes up a new tool name at each call', () => {
  it('causes no series, no memory growth and no longer reports, for every outcome of the calls', async () => {
    const agent = newAgent();
    const box = createBreakerbox({ agent, tools: { search: {} } });
    const session = box.session();
    let made = 0;
    const flood = (calls: number): void => {
      for (let call = 0; call < calls; call += 1) {
        made += 1;
        const permit = session.acquire(`made_up_${made}`, { callId: `call-${made}`, input: { query: made } });
        // Every outcome that costs no budget. The tenth call never settles.
        if (made % 10 < 5) permit.settle({ outcome: 'success' });
        else if (made % 10 < 9) permit.settle({ outcome: 'ignored', category: 'invalid_input' });
      }
      session.step();
    };
    const sizes = (): readonly number[] => [
      report(session).tools.length,
      Math.ceil(JSON.stringify(snapshot(session)).length / 1_000),
      box.tools.length,
      session.view().circuits.length,
    ];
    flood(2_000);
    const [sizesBefore, linesBefore] = [sizes(), await linesOf(agent)];
    const before = heapOf(session, box);
    flood(30_000);
    expect(heapOf(session, box) - before).toBeLessThan(MEGABYTE);
    expect(sizes()).toEqual(sizesBefore);
    expect(await linesOf(agent)).toBe(linesBefore);
    expect(formatReport(report(session)).length).toBeLessThan(100_000);
    expect(session.note()).toBe('');
    expect(await observed.sum('breakerbox_decisions_total', agent, '="_OTHER"')).toBe(32_000);
  });

  it('with names of a megabyte each: reports stay short', () => {
    const session = createBreakerbox({ agent: newAgent() }).session();
    for (let call = 0; call < 250; call += 1) session.acquire(`${call}${'x'.repeat(MEGABYTE)}`);
    expect(JSON.stringify(report(session)).length).toBeLessThan(MEGABYTE);
  });
});

it.each([{ rule: 'strict' as const }, { rule: 'window' as const, windowSteps: 10_000 }])(
  'does not keep thousands of failures in a large budget one by one: $rule',
  (rule) => {
    const box = createBreakerbox({ agent: newAgent(), budget: { ...rule, failures: 1_000_000 } });
    const session = box.session();
    for (let failure = 0; failure < 5_000; failure += 1) {
      session.step();
      session.acquire(`made_up_${failure % 20}`).settle({ outcome: 'failure', category: 'server', tokens: 10 });
    }
    const { budget } = report(session);
    expect(budget?.remaining).toBe(995_000);
    expect(JSON.stringify(snapshot(session)).length).toBeLessThan(100_000);
    expect(formatReport(report(session)).length).toBeLessThan(100_000);
  },
);

it('more tools than `maxTools` share one set of series, but each has its own circuit', async () => {
  const agent = newAgent();
  const box = createBreakerbox({ agent, maxTools: 10 });
  const session = box.session();
  const names = Array.from({ length: 300 }, (_, index) => `listed_${index}`);
  for (const name of names.slice(0, 20)) {
    session.declare(name);
    session.acquire(name).settle({ outcome: 'success' });
  }
  const before = await linesOf(agent);
  for (const name of names) box.declare(name); // By hand, because a session's own declarations are bounded.
  for (const name of names) session.acquire(name).settle({ outcome: 'success' });
  expect(await linesOf(agent)).toBe(before);
  expect(await observed.sum('breakerbox_circuits{', agent, 'state="closed"')).toBe(names.length);
  session.end();
  expect(await observed.sum('breakerbox_circuits{', agent)).toBe(0);
});

it('tens of thousands of calls that never settle leave nothing in memory (C9)', () => {
  const box = createBreakerbox({ agent: newAgent(), tools: { search: {} }, scope: 'process' });
  const session = box.session();
  const call = (calls: number): void => {
    for (let left = calls; left > 0; left -= 1) session.acquire('search', { input: { left } });
  };
  call(1_000);
  const before = heapOf(session, box);
  call(30_000);
  expect(heapOf(session, box) - before).toBeLessThan(MEGABYTE);
});

it('thirty thousand ended sessions leave nothing in memory, in every final state', async () => {
  const agent = newAgent();
  const box = createBreakerbox({ agent, tools: { search: {}, fetch: {} } });
  const live = (sessions: number): void => {
    for (let left = sessions; left > 0; left -= 1) {
      const session = box.session();
      session.acquire('search').settle({ outcome: left % 2 ? 'success' : 'failure' });
      for (let failures = left % 7; failures > 0; failures -= 1)
        session.acquire('fetch').settle({ outcome: 'failure' });
      session.end();
    }
  };
  live(2_000);
  const before = heapOf(box);
  live(28_000);
  expect(heapOf(box) - before).toBeLessThan(MEGABYTE);
  expect(await observed.sum('breakerbox_circuits{', agent)).toBe(0);
  expect(await observed.sum('breakerbox_sessions{', agent)).toBe(0);
});

describe('a model that repeats itself', () => {
  it('is stopped even if the tool changes its own arguments (O5)', async () => {
    const session = createBreakerbox({ agent: newAgent() }).session();
    let calls = 0;
    const tool = guard(session, 'search', async (input: { query: string; seen?: number }) => {
      calls += 1;
      input.seen = calls;
      throw Object.assign(new Error('bad argument'), { status: 400 });
    });
    const errors: unknown[] = [];
    for (let call = 0; call < 5; call += 1) errors.push(await tool({ query: 'same' }).catch((error: unknown) => error));
    expect(calls).toBe(3);
    expect(errors.at(-1)).toMatchObject({ decision: 'skip', reason: 'repeat' });
  });

  it('is not stopped for arguments that only look alike', async () => {
    const session = createBreakerbox({ agent: newAgent() }).session();
    let calls = 0;
    const tool = guard(session, 'search', async (_: unknown) => {
      calls += 1;
      throw Object.assign(new Error('bad argument'), { status: 400 });
    });
    for (const input of [{ a: '1' }, { a: 1 }, { a: [1] }, '{"a":1}', [['a', 1]]]) {
      await expect(tool(input)).rejects.toThrow('bad argument');
    }
    expect(calls).toBe(5);
  });
});
