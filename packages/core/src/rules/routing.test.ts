import { context, metrics, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { ATTR } from '../telemetry/semconv.ts';
import { newAgent, registerMetrics, registerTraces, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, trip } from '../test-support.ts';
import { bringDown, callWith, hear } from './test-support.rules.ts';

afterEach(() => {
  metrics.disable();
  trace.disable();
  context.disable();
});

const search = {
  web: {
    provides: 'web search',
    alternatives: [
      { tool: 'archive' },
      { tool: 'phone', degradation: 'high', method: 'call the library' },
      { tool: 'news', degradation: 'low', note: 'recent items only' },
    ],
    fallback: 'ask the user for a link',
  },
  archive: {},
  phone: {},
  news: {},
  lone: {},
  manual: { fallback: 'write it down' },
} as const;

const out = (session: ReturnType<typeof bench>['session'], ...tools: string[]) => {
  for (const tool of tools) session.control(tool, 'forced_open');
};

describe('R2: route of a skipped call', () => {
  test('R2: the least degradation is first, unknown last; then the manual fallback; then no route', () => {
    const { session } = bench({ tools: search });
    const route = (tool = 'web') => session.acquire(tool).route;
    out(session, 'web', 'lone', 'manual');
    expect(route()).toMatchObject({ kind: 'alternative', tool: 'news', degradation: 'low', note: 'recent items only' });
    out(session, 'news');
    expect(route()).toMatchObject({ kind: 'alternative', tool: 'phone', degradation: 'high' });
    out(session, 'phone');
    expect(route()).toMatchObject({ kind: 'alternative', tool: 'archive', degradation: 'unknown' });
    out(session, 'archive');
    expect(route()).toEqual({ kind: 'manual', fallback: 'ask the user for a link' });
    expect(route('lone')).toEqual({ kind: 'defer' });
    expect(route('manual')).toEqual({ kind: 'manual', fallback: 'write it down' });
  });

  test('R2: an alternative is not usable while open, due for a probe, probing, unavailable or not allowed', () => {
    const tools = {
      a: { alternatives: [{ tool: 'b' }, { tool: 'c' }, { tool: 'd' }], mode: 'forced_open' },
      b: {},
      c: { precheck: () => 'unavailable' as const },
      d: {},
    } as const;
    const { session, box } = bench({ tools, allowedTools: ['a', 'b', 'c'] });
    const route = () => session.acquire('a').route?.kind;
    expect(session.acquire('a').route).toMatchObject({ tool: 'b' });
    trip(session, 'b');
    expect(route()).toBe('defer');
    steps(session, 3);
    expect(route()).toBe('defer');
    const probe = session.acquire('b');
    expect(route()).toBe('defer');
    probe.settle({ outcome: 'success' });
    expect(session.acquire('a').route).toMatchObject({ tool: 'b' });
    expect(box.session({ allowedTools: ['a', 'c', 'd'] }).acquire('a').route).toMatchObject({ tool: 'd' });
  });

  test('R2: a disabled or observed alternative is usable', () => {
    const { session } = bench({
      tools: {
        a: { alternatives: [{ tool: 'b' }, { tool: 'c' }] },
        b: { mode: 'observe_only' },
        c: { mode: 'disabled' },
      },
      budget: { failures: 50 },
    });
    trip(session, 'b'); // Its dryRun is open.
    out(session, 'a');
    expect(session.acquire('a').route).toMatchObject({ tool: 'b' });
    out(session, 'b');
    expect(session.acquire('a').route).toMatchObject({ tool: 'c' });
  });

  test('R2: an alternative that the loop guard skips for other arguments is usable', () => {
    const { session } = bench({ tools: { a: { alternatives: [{ tool: 'b' }] }, b: {} } });
    for (let i = 0; i < 3; i += 1) callWith(session, 'b', 1, { outcome: 'ignored', category: 'tool_error' });
    out(session, 'a');
    expect(session.acquire('a', { input: 1 }).route).toMatchObject({ kind: 'alternative', tool: 'b' });
  });

  test('R2: while the session is paused no alternative is used', () => {
    const { session } = bench({ tools: { ...search, x: {} } });
    bringDown(session, 'lone', 'x');
    expect(session.acquire('web').route).toEqual({ kind: 'manual', fallback: 'ask the user for a link' });
    expect(session.acquire('news').route).toEqual({ kind: 'defer' });
  });

  test('R2: calls and probes have no route', () => {
    const { session } = bench({ tools: search });
    expect(session.acquire('web').route).toBeUndefined();
    trip(session, 'web');
    steps(session, 3);
    expect(session.acquire('web')).toMatchObject({ decision: 'probe', route: undefined, message: '' });
  });

  test('R2: route and degradation are on the span, in the metric and in the event', async () => {
    const finished = registerTraces();
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, box } = bench({ agent, tools: search });
    const decisions = hear(box, 'decision');
    out(session, 'web', 'lone');
    session.acquire('web');
    session.acquire('lone');
    expect(decisions.map(({ route }) => route)).toEqual([
      { kind: 'alternative', tool: 'news', degradation: 'low' },
      { kind: 'defer', tool: undefined, degradation: undefined },
    ]);
    const [web, lone] = finished();
    expect(web?.attributes).toMatchObject({
      [ATTR.route]: 'alternative',
      [ATTR.routeTool]: 'news',
      [ATTR.degradation]: 'low',
    });
    expect(lone?.attributes[ATTR.route]).toBe('defer');
    expect(lone?.attributes[ATTR.routeTool]).toBeUndefined();
    const counted = seriesOf(agent, await scrape(), 'breakerbox_routes_total').filter((line) => !line.endsWith(' 0'));
    expect(counted).toEqual([
      'breakerbox_routes_total{gen_ai_tool_name="web",breakerbox_route="alternative",breakerbox_degradation="low"} 1',
      'breakerbox_routes_total{gen_ai_tool_name="lone",breakerbox_route="defer"} 1',
    ]);
  });
});

describe('R3: messages for the model', () => {
  test('R3: the message says which tool, why, until when, its replacement and the loss, and not to retry', () => {
    const { session } = bench({ tools: search });
    session.step();
    trip(session, 'web');
    expect(session.acquire('web').message).toBe(
      "Tool 'web' is unavailable: the last calls failed (network). Do not call it now. It may work again in about 3 of your turns. " +
        "Use 'news' instead (recent items only; little is lost). [breakerbox:not-called]",
    );
  });

  test('R3: note() describes all unavailable tools; unavailable() names them, never one that is due for a probe', () => {
    const { session } = bench({ tools: search });
    expect([session.note(), session.unavailable()]).toEqual(['', []]);
    trip(session, 'web');
    out(session, 'manual');
    expect(session.unavailable()).toEqual(['web', 'manual']);
    expect(session.note().split('\n')).toEqual([
      'These tools are unavailable now. Do not call them.',
      "- 'web': the last calls failed (network). It may work again in about 60 s. Use 'news' instead (recent " +
        'items only; little is lost).',
      "- 'manual': it is switched off. Instead: write it down.",
    ]);
    steps(session, 3);
    expect(session.unavailable()).toEqual(['manual']);
    expect(session.note()).not.toContain("'web'");
    session.acquire('web');
    expect(session.unavailable()).toEqual(['web', 'manual']); // The probe is on its way.
  });

  test('R3: note() names 20 tools at most, with fallbacks of 200 characters, and how many more there are', () => {
    const fallback = 'x'.repeat(900_000);
    const names = Array.from({ length: 2_000 }, (_, index) => `tool-${index}`);
    const { session } = bench({ agent: 'a', tools: Object.fromEntries(names.map((name) => [name, { fallback }])) });
    for (const name of names) session.control(name, 'forced_open');
    const lines = session.note().split('\n');
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe('- and 1980 more.');
    expect(session.note().length).toBeLessThan(20 * 400);
    expect(session.unavailable()).toHaveLength(2_000);
  });

  test('R3: while the session is paused all tools are unavailable, and the note says so once', () => {
    const { session } = bench({ tools: search });
    bringDown(session, 'lone', 'archive');
    expect(session.unavailable()).toEqual(Object.keys(search));
    const [first, ...others] = session.note().split('\n');
    expect(first).toContain("Tool calls are paused: 'lone' and 'archive' failed in the same way (network)");
    expect(others).toEqual(["Instead of 'web': ask the user for a link.", "Instead of 'manual': write it down."]);
  });

  test('R3: a message keeps the state of its decision, even if you read it later', () => {
    const { session } = bench();
    trip(session, 'a');
    const permit = session.acquire('a');
    const { message } = permit;
    steps(session, 2);
    session.control('a', 'forced_open');
    failOnce(session, 'b');
    expect(permit.message).toBe(message);
  });
});
