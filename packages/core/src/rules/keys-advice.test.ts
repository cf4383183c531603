import { describe, expect, test } from 'vitest';
import { byHost } from '../circuit/key-circuits.ts';
import { formatReport } from '../report/format.ts';
import { report as reportOf } from '../report/report.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { at, DEAD, hearAll, keyed, openKey, visit, words } from './test-support.rules.ts';

describe('R3, R2, F2: advice for a call whose key is open', () => {
  test('R3: the model reads that the tool is unavailable for this target and until when, but not the target', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    const { message } = session.acquire('a', { input: at('x.example') });
    expect(message).toBe(
      "Tool 'a' is unavailable for this target: the last calls failed (network). Do not call it now. It may work again in " +
        'about 60 s. Other targets may work. Continue without it, and say in your answer what is missing. [breakerbox:not-called]',
    );
    expect(words(message)).toBeLessThanOrEqual(60);
    steps(session, 3);
    session.acquire('a', { input: at('x.example') });
    expect(session.acquire('a', { input: at('x.example') }).message).toBe(
      "Tool 'a' is unavailable for this target: the last calls failed (network). Do not call it now. One call is testing that now. It may " +
        'work again later in this run. Other targets may work. Continue without it, and say in your answer what is missing. [breakerbox:not-called]',
    );
    expect([session.note(), session.unavailable()]).toEqual(['', []]);
  });

  test('R3, C14: the model reads that other targets still work once a call of the tool has worked', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    const read = () => session.acquire('a', { input: at('x.example') }).message;
    expect(read()).toContain('Other targets may work.');
    visit(session, 'b', 'y.example');
    expect(read()).toContain('Other targets may work.');
    visit(session, 'a', 'y.example');
    expect(read()).toContain('Other targets still work.');
  });

  test('R3: while the tool itself is not closed, the message does not say that other targets work', () => {
    const { session } = keyed();
    const limited = { outcome: 'failure', category: 'rate_limit', retryAfterMs: 500_000, blames: 'key' } as const;
    for (let i = 0; i < 3; i += 1) visit(session, 'a', 'x.example', limited);
    trip(session, 'a');
    steps(session, 3);
    const permit = session.acquire('a', { input: at('x.example') });
    expect([permit.reason, permit.state]).toEqual(['key_open', 'open']);
    expect(permit.message).toMatch(/^Tool 'a' is unavailable for this target: /);
    expect(permit.message).not.toContain('Other targets');
  });

  test('R3: if the tool itself rejects, the message mentions no target', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    trip(session, 'a');
    expect(session.acquire('a', { input: at('x.example') }).message).not.toContain('target');
    steps(session, 3);
    session.acquire('a', { input: at('x.example') });
    const inFlight = session.explain('a', at('x.example'));
    expect([inFlight.reason, inFlight.rejectedBy]).toEqual(['probe_in_flight', 'a']);
    expect(inFlight.text).not.toContain('target');
  });

  test('R2: an alternative is named, and is usable if only one of its keys is open', () => {
    const { session } = keyed({
      tools: { a: { key: byHost(), alternatives: [{ tool: 'b', degradation: 'low' }] }, b: { key: byHost() } },
    });
    openKey(session, 'x.example');
    openKey(session, 'x.example', 'b');
    expect(session.acquire('a', { input: at('x.example') }).route).toMatchObject({ kind: 'alternative', tool: 'b' });
  });

  test('F2: the last good result answers', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), serveStaleMs: 60_000 } } });
    visit(session, 'a', 'x.example', { outcome: 'success', result: 'page' });
    openKey(session, 'x.example');
    expect(session.acquire('a', { input: at('x.example') }).route).toMatchObject({ kind: 'stale', result: 'page' });
  });

  test('C15: explain() names the circuit of the key, until when, and shows it', () => {
    const { session, clock } = keyed();
    openKey(session, 'x.example');
    clock.advance(10_000);
    expect(session.explain('a', at('x.example'))).toMatchObject({
      decision: 'skip',
      reason: 'key_open',
      rejectedBy: 'key',
      nextProbe: { steps: 3, ms: 50_000 },
      charges: [],
      circuits: [{ tool: 'a', state: 'closed', openKeys: 1, key: { state: 'open', openForMs: 10_000 } }],
      text: session.acquire('a', { input: at('x.example') }).message,
    });
    expect(session.explain('a').reason).toBe('closed');
  });

  test("C14: peek() finds the host's circuit where an adapter names the key", () => {
    const { session } = bench();
    for (let i = 0; i < 3; i += 1) session.acquire('a', { key: 'x.example' }).settle(DEAD);
    expect(session.peek('a', at('x.example'))?.key?.state).toBe('open');
    expect(session.peek('a', at('y.example'))?.key).toBeUndefined();
    expect(session.peek('never', at('x.example'))).toBeUndefined();
  });

  test('O3: a Retry-After of the key applies to the key', () => {
    const { session } = keyed();
    for (let i = 0; i < 3; i += 1) {
      visit(session, 'a', 'x.example', {
        outcome: 'failure',
        category: 'rate_limit',
        retryAfterMs: 500_000,
        blames: 'key',
      });
    }
    steps(session, 3);
    expect(visit(session, 'a', 'x.example')).toBe('key_open');
    expect(session.explain('a', at('x.example')).nextProbe).toMatchObject({ notBeforeMs: 500_000 });
  });
});

test('C14, S1: open keys of several tools make no event', () => {
  const { session } = keyed();
  openKey(session, 'x.example', 'a');
  openKey(session, 'x.example', 'b');
  failOnce(session, 'c');
  succeedOnce(session, 'c');
  expect([session.view().systemic, session.view().state]).toEqual([undefined, 'active']);
});

test('Q1, Q2, C14: the report says how many calls were skipped for a target, and never names the target', () => {
  const { session, box } = keyed();
  const told = hearAll(box);
  openKey(session, 'secret.example');
  const skipped = [1, 2].map(() => session.acquire('a', { input: at('secret.example') }));
  const report = reportOf(session);
  expect(report.tools[0]?.rejected).toMatchObject({ skipped: 2, reasons: { key_open: 2 } });
  const text = formatReport(report);
  expect(text).toContain('Calls skipped for one target only: a 2.');
  expect(report).toMatchObject({
    headline: 'a: 1 target is unavailable; 2 calls of this run were skipped or paused.',
    tools: [{ openKeys: 1 }],
  });
  const all = [
    text,
    JSON.stringify([report, skipped, session.view(), session.explain('a', at('secret.example'))]),
    ...told,
  ];
  all.push(JSON.stringify(snapshot(session)));
  expect(all.filter((one) => one.includes('secret.example'))).toEqual([]);
});
