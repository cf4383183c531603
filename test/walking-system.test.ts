import { readFileSync } from 'node:fs';
import { METRIC, type SessionReport } from '@breakerbox/core';
import { startTelemetry, type TelemetryHandle } from '@breakerbox/telemetry';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dashboardQueries, showsSomething, substitute, variableQueries } from '../dashboards/src/queries.ts';
import { type AlertWatch, startAlertWatch } from '../packages/cli/src/demo/alert-watch.ts';
import { createJournal } from '../packages/cli/src/demo/journal.ts';
import { type Stack, startStack } from '../packages/cli/src/demo/stack.ts';
import { type RunningAgent, startAgent, startSeller, TOKENS } from './agents.ts';
import { type PrometheusClient, prometheusClient } from './prometheus.ts';

/**
 * The whole way with real parts: HTTP services that fail, agents, the scrape endpoint, Prometheus with the repository's rules
 * (a minute of theirs is a second here), Alertmanager with the repository's inhibition, and a webhook at its end.
 */
let telemetry: TelemetryHandle;
let watch: AlertWatch;
let stack: Stack;
let prometheus: PrometheusClient;
let lookup: RunningAgent;
let fleet: RunningAgent;
let spender: RunningAgent;
let seller: RunningAgent;
const from = Date.now() / 1000;
const stopping = new AbortController();

beforeAll(async () => {
  telemetry = startTelemetry({ serviceName: 'walking-system', prometheus: { port: 0 } });
  await telemetry.ready;
  const journal = createJournal();
  journal.begin();
  watch = await startAlertWatch(journal);
  stack = await startStack({
    metrics: new URL(telemetry.metricsUrl ?? '').host,
    webhookUrl: watch.webhookUrl,
    journal,
    signal: stopping.signal,
  });
  const missing = 'is not there: `npm test` brings it; by hand, put prometheus and alertmanager on PATH';
  if (stack.prometheus.url === undefined) throw new Error(`Prometheus ${missing}`);
  if (stack.alertmanager.url === undefined) throw new Error(`Alertmanager ${missing}`);
  prometheus = prometheusClient(stack.prometheus.url);
  [lookup, fleet, spender, seller] = await Promise.all([
    startAgent('lookup-agent', { lookup: {}, archive: {} }),
    startAgent('fleet-agent', { orders: {}, tickets: {}, search: {} }),
    startAgent('spender-agent', { deploy: {}, logs: {} }),
    startSeller(),
  ]);
});

afterAll(async () => {
  stopping.abort();
  await Promise.all([lookup?.stop(), fleet?.stop(), spender?.stop(), seller?.stop()]);
  await stack?.stop();
  await watch?.close();
  await telemetry?.shutdown();
});

/** Waits for something to come true; looks at the alerts meanwhile. */
const eventually = (check: () => void | Promise<void>) =>
  vi.waitFor(
    async () => {
      await watch.look({ prometheus: () => stack.prometheus.url, alertmanager: () => stack.alertmanager.url });
      await check();
    },
    { timeout: 60_000, interval: 300 },
  );

const delivered = (alertname: string, agent: string, status: 'firing' | 'resolved') =>
  watch.delivered.filter(
    ({ labels, status: was }) => labels.alertname === alertname && labels.gen_ai_agent_name === agent && was === status,
  );

describe('from a tool call that fails to an alert that fires', () => {
  test('everything is well: series are there at zero, and nobody is woken', async () => {
    await eventually(async () => {
      const open = await prometheus.instant('sum(breakerbox_circuits{breakerbox_state="open"})');
      expect(open.map(({ values }) => values[0]?.[1])).toEqual([0]);
      expect(await prometheus.labelValues('gen_ai_tool_name', 'breakerbox_decisions_total')).toEqual([
        'archive',
        'deploy',
        'logs',
        'lookup',
        'mail',
        'orders',
        'prices',
        'quotes',
        'search',
        'tickets',
        'weather',
      ]);
    });
    expect(watch.delivered).toEqual([]);
  });

  test('a tool dies: its circuit opens, the other goes on, the alert reaches the webhook; it recovers: the alert resolves', async () => {
    await lookup.services.lookup?.break({ kind: 'refuse' });
    await eventually(() => {
      expect(delivered('BreakerboxCircuitOpen', 'lookup-agent', 'firing')[0]?.labels).toMatchObject({
        gen_ai_tool_name: 'lookup',
        severity: 'warning',
        job: 'breakerbox',
      });
      // Probes that failed have used up the budget of a run that nobody looks after: somebody does.
      if (lookup.session.view().state === 'paused_budget') lookup.session.resume();
    });
    expect(lookup.session.peek('archive')?.state).toBe('closed');
    await lookup.services.lookup?.mend();
    lookup.session.resume();
    await eventually(() => expect(lookup.session.peek('lookup')?.state).toBe('closed'));
    await eventually(() => expect(delivered('BreakerboxCircuitOpen', 'lookup-agent', 'resolved')).toHaveLength(1));
  });

  test('a run spends its failure budget: the alert reaches the webhook, and resolves once somebody lets it go on', async () => {
    await spender.services.deploy?.break({ kind: 'unavailable' });
    await spender.services.logs?.break({ kind: 'hang' });
    await eventually(() => expect(delivered('BreakerboxBudgetExhausted', 'spender-agent', 'firing')).toHaveLength(1));
    expect(spender.session.view()).toMatchObject({ state: 'paused_budget', budget: { remaining: 0 } });
    await spender.services.deploy?.mend();
    await spender.services.logs?.mend();
    spender.session.resume();
    await eventually(() => expect(delivered('BreakerboxBudgetExhausted', 'spender-agent', 'resolved')).toHaveLength(1));
  });

  test('several tools fail together: one systemic alert is delivered, those of the single tools are inhibited', async () => {
    await fleet.services.orders?.break({ kind: 'refuse' });
    await fleet.services.tickets?.break({ kind: 'refuse' });
    await eventually(() => {
      const held = watch.inhibited.map(({ labels }) => `${labels.alertname} ${labels.gen_ai_tool_name}`);
      expect(held).toEqual(expect.arrayContaining(['BreakerboxCircuitOpen orders', 'BreakerboxCircuitOpen tickets']));
    });
    expect(delivered('BreakerboxSystemicFailure', 'fleet-agent', 'firing')).toHaveLength(1);
    expect(delivered('BreakerboxCircuitOpen', 'fleet-agent', 'firing')).toEqual([]);
    expect(fleet.session.view()).toMatchObject({
      state: 'paused_systemic',
      systemic: { category: 'network', layer: 'network' },
      budget: { remaining: 4 },
    });
  });

  test('what Prometheus says of it is what the engine says', async () => {
    const value = async (expr: string) => (await prometheus.instant(expr))[0]?.values[0]?.[1];
    for (const { box, session } of [lookup, fleet, spender]) {
      const of = `gen_ai_agent_name="${box.agent}"`;
      await eventually(async () => {
        const { budget, state, circuits } = session.view();
        expect(await value(`breakerbox_budget_granted_total{${of}}`)).toBe(budget.granted);
        expect(await value(`breakerbox_budget_consumed_total{${of}}`)).toBe(budget.consumed);
        expect(await value(`breakerbox_sessions{${of}, breakerbox_session_state="${state}"}`)).toBe(1);
        for (const circuit of circuits) {
          const tool = `${of}, gen_ai_tool_name="${circuit.tool}"`;
          expect(await value(`breakerbox_circuits{${tool}, breakerbox_state="${circuit.state}"}`)).toBe(1);
        }
      });
    }
    const events = await value(
      'sum(breakerbox_systemic_events_total{gen_ai_agent_name="fleet-agent", error_type="network"})',
    );
    expect(events).toBe(1);
  });

  test('it is over: probes close the circuits, and the held alerts do not burst out', async () => {
    await fleet.services.orders?.mend();
    await fleet.services.tickets?.mend();
    fleet.session.confirmRecovered();
    await eventually(() => expect(delivered('BreakerboxSystemicFailure', 'fleet-agent', 'resolved')).toHaveLength(1));
    expect(fleet.session.view()).toMatchObject({ state: 'active' });
    expect(fleet.session.view().circuits.map(({ state }) => state)).toEqual(['closed', 'closed', 'closed']);
    expect(delivered('BreakerboxCircuitOpen', 'fleet-agent', 'firing')).toEqual([]);
  });
});

describe('what was left out', () => {
  const heldUp = (tool: string) => seller.session.report().tools.find((one) => one.tool === tool)?.heldUp;

  const countsOf = (metric: 'routes' | 'freshness' | 'tasks' | 'prechecks', label: string) =>
    prometheus.countsBy(`${METRIC[metric].prometheus}{gen_ai_agent_name="seller-agent"}`, 'gen_ai_tool_name', label);
  const totalsOf = (metric: 'tokensWasted' | 'tokensAvoided') =>
    prometheus.totalsBy(`${METRIC[metric].prometheus}{gen_ai_agent_name="seller-agent"}`, 'gen_ai_tool_name');

  test('a pre-call check says that a tool is out: its calls go elsewhere, and its circuit hears nothing of it', async () => {
    await seller.services.mail?.break({ kind: 'unavailable' });
    await eventually(() => {
      expect(heldUp('mail')).toMatchObject({ reasons: { unavailable: expect.any(Number) } });
      expect(heldUp('mail')?.routes).toEqual({ manual: heldUp('mail')?.reasons.unavailable });
    });
    expect(seller.session.peek('mail')?.state).toBe('closed');
  });

  test('two more tools die: an alternative, a last good result, or later; and a plan that says so', async () => {
    await seller.services.prices?.break({ kind: 'refuse' });
    await seller.services.weather?.break({ kind: 'unavailable' });
    await eventually(() => {
      expect(heldUp('prices')?.routes).toMatchObject({ alternative: expect.any(Number) });
      expect(heldUp('weather')?.routes).toMatchObject({ stale: expect.any(Number), defer: expect.any(Number) });
      const { decision, achievable = [], deferred = [] } = seller.plans.at(-1) ?? {};
      expect(decision).toBe('reduce');
      expect(achievable.map(({ task, degraded }) => [task, degraded.map(({ route }) => route.tool)])).toEqual([
        ['offer', ['quotes']],
      ]);
      expect(deferred.map(({ task, blockers }) => [task, blockers.map(({ tool }) => tool)])).toEqual([
        ['forecast', ['weather']],
        ['invitation', ['mail']],
      ]);
    });
  });

  test('all is well again, and Prometheus has all that the report has', async () => {
    for (const service of Object.values(seller.services)) await service.mend();
    await eventually(() => {
      expect(seller.session.view().circuits.map(({ state }) => state)).toEqual([
        'closed',
        'closed',
        'closed',
        'closed',
      ]);
      expect(seller.session.unavailable()).toEqual([]);
      expect(seller.plans.at(-1)?.decision).toBe('proceed');
    });
    // From here on nothing changes any more.
    await seller.stop();
    const { tools } = seller.session.report();
    const told = (read: (one: SessionReport['tools'][number]) => unknown) =>
      Object.fromEntries(tools.map((one) => [one.tool, read(one)]));
    await eventually(async () => {
      expect(await countsOf('routes', 'breakerbox_route')).toEqual(told(({ heldUp: { routes } }) => routes));
      expect(await countsOf('freshness', 'breakerbox_freshness_label')).toEqual(told(({ labels }) => labels));
      expect(await totalsOf('tokensWasted')).toEqual(told(({ tokensWasted }) => tokensWasted));
      // All failed calls cost the same here, so that the estimate is exact.
      expect(await totalsOf('tokensAvoided')).toMatchObject({
        prices: TOKENS * (heldUp('prices')?.skipped ?? 0),
        weather: TOKENS * (heldUp('weather')?.skipped ?? 0),
      });
      expect(await countsOf('tasks', 'breakerbox_disposition')).toEqual({
        '': {
          achievable: seller.plans.reduce((sum, { achievable }) => sum + achievable.length, 0),
          deferred: seller.plans.reduce((sum, { deferred }) => sum + deferred.length, 0),
        },
      });
    });
    expect(tools.find(({ tool }) => tool === 'prices')?.tokensWasted).toBeGreaterThanOrEqual(3 * TOKENS);
    const labels = new Set(tools.flatMap((one) => Object.keys(one.labels)));
    expect(labels).toEqual(new Set(['stale', 'cached', 'unverified', 'freshness_unknown']));
    expect((await countsOf('prechecks', 'breakerbox_availability')).mail).toEqual({
      available: expect.any(Number),
      unavailable: expect.any(Number),
    });
  });
});

describe('what is there to look at', () => {
  test('the scrape text has the names of the contract, to the letter', async () => {
    const text = await (await fetch(telemetry.metricsUrl ?? '')).text();
    const names = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
    names.delete('target_info');
    expect([...names].sort()).toEqual(
      Object.values(METRIC)
        .map(({ prometheus: name }) => name)
        .sort(),
    );
  });

  const dashboard = JSON.parse(
    readFileSync(new URL('../dashboards/generated/breakerbox-fleet-overview.json', import.meta.url), 'utf8'),
  );
  const asked = { rateInterval: '4s', range: '5m' };

  // Over the whole run, those of now too: by the end all is well again.
  test.each(dashboardQueries(dashboard).map((query) => [`${query.panel} ${query.refId}`, query] as const))(
    'the query of panel %s returns data, and has shown what happened',
    async (_, query) => {
      const series = await prometheus.range(substitute(query.expr, asked), from);
      const values = series.flatMap((one) => one.values.map(([, value]) => value));
      expect(values).not.toEqual([]);
      expect(values.every(Number.isFinite)).toBe(true);
      if (showsSomething(query)) expect(values.some((value) => value !== 0)).toBe(true);
    },
  );

  test.each(variableQueries(dashboard).map((query) => [query.variable, query] as const))(
    'the variable %s offers values',
    async (_, { label, selector }) => {
      expect(await prometheus.labelValues(label, substitute(selector, asked))).not.toEqual([]);
    },
  );

  test('every rule is healthy and has returned data', async () => {
    const rules = await prometheus.rules();
    expect(rules.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['BreakerboxCircuitOpen', 'BreakerboxBudgetExhausted', 'BreakerboxSystemicFailure']),
    );
    for (const { name, query, health, lastError } of rules) {
      expect({ name, health, lastError }).toEqual({ name, health: 'ok', lastError: undefined });
      expect({ name, series: (await prometheus.range(query, from)).length }).not.toEqual({ name, series: 0 });
    }
  });
});
