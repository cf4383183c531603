import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import type { CallInput } from '../loop-guard/digest.ts';
import { formatReport } from '../report/format.ts';
import { report } from '../report/report.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, steps } from '../test-support.ts';
import { callWith, hearAll, inAnotherProcess } from './test-support.rules.ts';

afterEach(() => metrics.disable());

const refused = { outcome: 'ignored', category: 'invalid_input' } as const;
const network = { outcome: 'failure', category: 'network' } as const;
const lasting = { defaults: { failureThreshold: 50 }, budget: { failures: 50, windowCalls: 50 } } as const;

describe('O5: the loop guard', () => {
  test('O5: the fourth identical call is skipped, for those arguments alone, and the circuit does not change', () => {
    const { session } = bench();
    for (let i = 0; i < 3; i += 1) expect(callWith(session, 'a', { id: 7 }, refused)).toBe('closed');
    const permit = session.acquire('a', { input: { id: 7 } });
    expect(permit).toMatchObject({ decision: 'skip', reason: 'repeat', state: 'closed', route: { kind: 'defer' } });
    expect(permit.message).toBe(
      "Tool 'a' was not called: the same call has failed in the same way several times in a row. Do not repeat it: " +
        'change the arguments, or do something else first. Or continue without it, and say in your answer what is missing. [breakerbox:not-called]',
    );
    permit.settle(network);
    expect(session.peek('a')).toMatchObject({ state: 'closed', generation: 0, failures: 0 });
    expect(session.view().budget.consumed).toBe(0);
    expect(session.unavailable()).toEqual([]);
    expect(session.note()).toBe('');
  });

  test('O5: a call with other arguments passes, and lifts the block', () => {
    const { session } = bench();
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1, refused);
    expect(session.acquire('a', { input: 1 }).reason).toBe('repeat');
    expect(callWith(session, 'a', 2, refused)).toBe('closed');
    expect(session.acquire('a', { input: 1 }).reason).toBe('closed');
  });

  test('O5: a call of another tool lifts the block, even without arguments; a skip and a pause do not', () => {
    const { session } = bench({ tools: { a: {}, b: {}, off: { mode: 'forced_open' } } });
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1, refused);
    session.acquire('off', { input: 9 });
    expect(session.acquire('a', { input: 1 }).reason).toBe('repeat');
    session.acquire('b');
    expect(session.acquire('a', { input: 1 }).reason).toBe('closed');
  });

  test('O5: another category begins a new row', () => {
    const { session } = bench(lasting);
    for (const category of ['network', 'server', 'network', 'network'] as const) {
      expect(callWith(session, 'a', 1, { outcome: 'failure', category })).toBe('closed');
    }
    callWith(session, 'a', 1, network);
    expect(session.acquire('a', { input: 1 }).reason).toBe('repeat');
  });

  test('O5: repeated successes are never skipped', () => {
    const { session } = bench();
    for (let i = 0; i < 9; i += 1) expect(callWith(session, 'a', 1, { outcome: 'success' })).toBe('closed');
  });

  test('O5: equal arguments match in any order of their keys; calls without arguments never match', () => {
    const { session } = bench();
    for (const input of [
      { x: 1, y: [2] },
      { y: [2], x: 1 },
      { x: 1, y: [2] },
    ])
      callWith(session, 'a', input, refused);
    expect(session.acquire('a', { input: { y: [2], x: 1 } }).reason).toBe('repeat');
    for (let i = 0; i < 9; i += 1) expect(callWith(session, 'b', undefined, refused)).toBe('closed');
  });

  test('O5: the number of repeats is configurable, and the guard can be switched off', () => {
    const once = bench({ loopGuard: { repeats: 1 } }).session;
    callWith(once, 'a', 1, refused);
    expect(once.acquire('a', { input: 1 }).reason).toBe('repeat');
    const never = bench({ loopGuard: false }).session;
    for (let i = 0; i < 9; i += 1) expect(callWith(never, 'a', 1, refused)).toBe('closed');
  });

  test('O5: the guard works per session, even if circuits are shared', () => {
    const { session, box } = bench({ scope: 'process' });
    const other = box.session();
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1, refused);
    expect(session.acquire('a', { input: 1 }).reason).toBe('repeat');
    expect(other.acquire('a', { input: 1 }).reason).toBe('closed');
  });

  test('C1, O5: an observed tool is called, and says that it would have been skipped', () => {
    const { session } = bench({ defaults: { mode: 'observe_only' } });
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1, refused);
    expect(session.acquire('a', { input: 1 })).toMatchObject({
      decision: 'call',
      reason: 'would_skip',
      wouldDecide: 'skip',
    });
  });

  test('C1, O5: a disabled tool may repeat its calls', () => {
    const { session } = bench({ tools: { a: { mode: 'disabled' } } });
    for (let i = 0; i < 9; i += 1) expect(callWith(session, 'a', 1)).toBe('disabled');
  });

  test('O5: a repeated call of an undeclared tool is skipped like any other', () => {
    const { session } = bench();
    for (let i = 0; i < 3; i += 1) expect(callWith(session, 'made_up', 1, refused)).toBe('undeclared');
    expect(session.acquire('made_up', { input: 1 })).toMatchObject({ decision: 'skip', reason: 'repeat' });
  });

  test('O5: skips are counted by their reason', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session } = bench({ agent, tools: { a: {} } });
    for (let i = 0; i < 5; i += 1) callWith(session, 'a', 1, refused);
    const lines = seriesOf(agent, await scrape(), 'breakerbox_decisions_total');
    expect(lines.filter((line) => !line.endsWith(' 0'))).toEqual([
      'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="call",breakerbox_reason="closed"} 3',
      'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="skip",breakerbox_reason="repeat"} 2',
    ]);
  });

  test('O5, Q2: neither arguments nor digests leave the session, and another process starts the count again', () => {
    const { session, box } = bench();
    const events = hearAll(box);
    for (let i = 0; i < 4; i += 1) callWith(session, 'a', { secret: 'sk-12345' }, refused);
    const { input } = session.acquire('a', { input: { secret: 'sk-12345' } }) as unknown as { input: CallInput };
    const said = [JSON.stringify(snapshot(session)), JSON.stringify(report(session)), formatReport(report(session))];
    for (const text of [...said, ...events]) {
      expect(text).not.toContain('sk-12345');
      expect(text).not.toContain(input.digest());
    }
    expect(inAnotherProcess(session, box).acquire('a', { input: { secret: 'sk-12345' } }).reason).toBe('closed');
  });

  test('O5: a pause has priority over the guard, and the block remains after the pause', () => {
    const { session } = bench(lasting);
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1, refused);
    for (let i = 0; i < 50; i += 1) session.acquire('made_up').settle({ outcome: 'failure', category: 'server' });
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1, refused);
    expect(session.acquire('a', { input: 1 }).reason).toBe('budget_exhausted');
    session.resume();
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1, refused);
    steps(session, 1);
    expect(session.acquire('a', { input: 1 }).reason).toBe('repeat');
  });
});
