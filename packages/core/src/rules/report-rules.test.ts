import { describe, expect, test } from 'vitest';
import {
  formatPauseReport,
  formatPlanReport,
  formatReport,
  formatStateTable,
  formatSystemicReport,
} from '../report/format.ts';
import { report as reportOf } from '../report/report.ts';
import { planScope } from '../scope/scope.ts';
import type { Session } from '../session-api.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, callWith, waste } from './test-support.rules.ts';

/** What every report must be: plain data, and text of 80 columns without colour. */
const sound = (session: Session) => {
  const report = reportOf(session);
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  const text = formatReport(report);
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(text).toMatch(/^[\P{C}\n]*$/u);
  for (const part of [formatStateTable, formatPlanReport, formatPauseReport, formatSystemicReport]) {
    expect(part(report).length).toBeGreaterThan(0);
  }
  return { report, text };
};

describe('Q1: the report of a session, in each of its states', () => {
  test('Q1: the report before the first call', () => {
    const { report } = sound(bench().session);
    expect(report).toMatchObject({
      headline: 'No tool has been used yet.',
      agent: 'tester',
      session: 'run-1',
      state: 'active',
      tools: [],
      systemic: null,
      plan: null,
      leftOut: [],
      next: [],
    });
  });

  test('Q1: the report while tools work, and while one is unavailable', () => {
    const { session } = bench();
    succeedOnce(session, 'a');
    succeedOnce(session, 'b');
    expect(sound(session).report.headline).toBe('All 2 tools work.');
    trip(session, 'a');
    session.acquire('a');
    const { report, text } = sound(session);
    expect(report).toMatchObject({
      headline: '1 of 2 tools is unavailable: a (network).',
      tools: [
        {
          tool: 'a',
          state: 'open',
          category: 'network',
          trip: 'consecutive',
          nextProbe: { steps: 3, ms: 60_000 },
          calls: { made: 4, succeeded: 1, failed: 3, ignored: 0 },
          rejected: { skipped: 1, paused: 0, reasons: { open: 1 } },
        },
        { tool: 'b', state: 'closed', calls: { made: 1, succeeded: 1 } },
      ],
    });
    expect(text).toContain('1 of 2 tools is unavailable: a (network).');
  });

  test('Q1, B1: paused on the failure budget: each charged failure, each tool, and the next action', () => {
    const { session } = bench();
    for (const [tool, category] of [
      ['a', 'server'],
      ['b', 'timeout'],
      ['c', 'permission'],
      ['d', 'rate_limit'],
      ['a', 'server'],
    ] as const) {
      failOnce(session, tool, category);
      session.step();
    }
    succeedOnce(session, 'b'); // So the failures had no cause in common.
    session.acquire('d');
    const { report, text } = sound(session);
    expect(report).toMatchObject({ state: 'paused_budget', budget: { limit: 5, remaining: 0, exhausted: true } });
    expect(report.headline).toMatch(/^PAUSED, failure budget: .*5 failures/);
    expect(report.budget?.charges.map(({ tool, category, step }) => `${step} ${tool} ${category}`)).toEqual([
      '0 a server',
      '1 b timeout',
      '2 c permission',
      '3 d rate_limit',
      '4 a server',
    ]);
    expect(report.next.join(' ')).toContain('session.resume()');
    expect(report.leftOut).toMatchObject([{ kind: 'rejected', tool: 'd', paused: 1 }]);
    expect(text).toBe(formatPauseReport(report));
  });

  test('Q1, B4: paused on the token budget', () => {
    const { session } = bench({ budget: { tokens: 1_000 } });
    waste(session, 'a', 1_500);
    const { report } = sound(session);
    expect(report).toMatchObject({
      headline: expect.stringMatching(/^PAUSED, failure budget: .*1,000 tokens/),
      budget: { remaining: 4, tokens: { limit: 1_000, remaining: 0 }, charges: [{ tool: 'a' }] },
      tools: [{ tokensWasted: 1_500 }],
    });
  });

  test('Q1, S4: paused on a systemic failure', () => {
    const { session, clock } = bench({ tools: { a: { dependsOn: ['gateway'] }, b: { dependsOn: ['gateway'] } } });
    bringDown(session);
    clock.advance(5_000);
    const { report, text } = sound(session);
    expect(report).toMatchObject({
      headline:
        'PAUSED, systemic failure: a and b failed in the same way (network); suspect gateway, the dependency that they share.',
      state: 'paused_systemic',
      systemic: {
        category: 'network',
        layer: 'dependency',
        dependency: 'gateway',
        tools: [{ tool: 'a' }, { tool: 'b' }],
      },
      budget: { remaining: 4, charges: [{ standing: 'systemic', agoMs: 5_000 }] },
    });
    expect(report.next.join(' ')).toContain('session.confirmRecovered()');
    expect(text).toContain('gateway');
  });

  test('Q1, W1: a reduced scope: done, to do, deferred and why', () => {
    const { session } = bench();
    trip(session, 'a');
    planScope(session, [
      { name: 'prices', tools: ['b'] },
      { name: 'thanks', tools: ['b'] },
      { name: 'refund', tools: ['a'] },
    ]);
    const report = reportOf(session, { done: ['prices'] });
    expect(report).toMatchObject({ done: ['prices'], plan: { decision: 'reduce' } });
    const text = formatPlanReport(report).replace(/\s+/g, ' ');
    for (const word of ['prices', 'thanks', 'refund', "a probe of 'a' succeeds"]) expect(text).toContain(word);
  });

  test('Q1: the report after recovery, and after the end', () => {
    const { session } = bench();
    bringDown(session);
    session.acquire('c');
    session.confirmRecovered();
    steps(session, 3);
    succeedOnce(session, 'a');
    session.step();
    succeedOnce(session, 'b');
    expect(sound(session).report.headline).toBe(
      '2 of 3 tools work; no call of c has succeeded; 1 call of this run was skipped or paused.',
    );
    session.end();
    expect(sound(session).report).toMatchObject({
      state: 'active',
      tools: [{ tool: 'a' }, { tool: 'b' }, { tool: 'c' }],
    });
  });

  test('Q1, B5: the report of a box without circuits', () => {
    const { session } = bench({ scope: 'none' });
    failOnce(session, 'a');
    succeedOnce(session, 'made_up');
    expect(sound(session).report.tools).toMatchObject([
      { tool: 'a', state: null, calls: { made: 1, failed: 1 } },
      { tool: 'made_up', state: null, calls: { made: 1, succeeded: 1 } },
    ]);
  });

  test('Q1, C1: the report of observed, disabled and switched-off tools', () => {
    const { session } = bench();
    session.control('a', 'observe_only');
    trip(session, 'a');
    failOnce(session, 'a');
    session.control('b', 'disabled');
    failOnce(session, 'b');
    session.control('c', 'forced_open');
    session.acquire('c');
    const { report } = sound(session);
    expect(report.tools).toMatchObject([
      { tool: 'a', state: 'observe_only', wouldHaveBeenRejected: 1, rejected: { skipped: 0 } },
      { tool: 'b', state: 'disabled', calls: { failed: 1 } },
      { tool: 'c', state: 'forced_open', rejected: { skipped: 1, reasons: { forced_open: 1 } } },
    ]);
    expect(report.budget?.remaining).toBe(5);
  });

  test('C11, Q1: reading the report changes nothing, even after a lease has expired', () => {
    const { session, clock } = bench();
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a');
    clock.advance(600_000);
    const before = JSON.stringify(snapshot(session));
    sound(session);
    expect(JSON.stringify(snapshot(session))).toBe(before);
  });

  test('Q2: after a run with secrets everywhere, neither data nor text has one', () => {
    const secret = 'sk-31337';
    const { session } = bench({ tools: { a: { serveStaleMs: 60_000, labelFreshness: true }, b: {} } });
    callWith(session, 'a', { key: secret }, { outcome: 'success', result: { secret } });
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', { key: secret }, { error: new Error(`401 for ${secret}`) });
    callWith(session, 'b', secret, { result: { isError: true, content: [{ type: 'text', text: secret }] } });
    session.acquire('a', { callId: secret, input: { key: secret } });
    const { report, text } = sound(session);
    expect(JSON.stringify(report) + text).not.toContain(secret);
  });
});
