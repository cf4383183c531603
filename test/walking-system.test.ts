import { METRIC } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import type { SessionReport } from '@breakerbox/core/report';
import { report } from '@breakerbox/core/report';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningAgent, TOKENS } from './agents.ts';
import { parseExposition } from './exposition.ts';
import type { PrometheusClient } from './prometheus.ts';
import { startWalk, WAY_NAMES, WAYS, type Walk, type Way } from './walk.ts';
import { describeQueries, describeRules } from './walk-checks.ts';
import { describeEngineInPanels, describeNumbersAtRest } from './walk-engine.ts';

let walk: Walk;
let prometheus: PrometheusClient;
let lookup: RunningAgent;
let fleet: RunningAgent;
let spender: RunningAgent;
let seller: RunningAgent;
beforeAll(async () => {
  walk = await startWalk();
  ({ prometheus } = walk);
  ({ lookup, fleet, spender, seller } = walk.agents);
});
afterAll(() => walk?.stop());

const eventually: Walk['eventually'] = (check) => walk.eventually(check);

/** Notifications of one agent at the webhook, from one of the two ways of its metrics. */
const delivered = (alertname: string, agent: string, status: 'firing' | 'resolved', way: Way = 'scrape') =>
  walk.watch.delivered.filter(
    ({ labels, status: was }) =>
      labels.alertname === alertname &&
      labels.gen_ai_agent_name === agent &&
      labels.job === WAYS[way] &&
      was === status,
  );

describe('from a failing tool call to a firing alert', () => {
  test('while everything works, series exist at zero, and no alert fires', async () => {
    await eventually(async () => {
      const open = await prometheus.instant('sum by (job) (breakerbox_circuits{breakerbox_state="open"})');
      expect(open.map(({ values }) => values[0]?.[1])).toEqual([0, 0]);
      // Both ways have had zeros for some seconds, so the first failure is an increase.
      const counts = await prometheus.instant('count_over_time(sum by (job) (breakerbox_sessions)[1m:1s])');
      for (const { values } of counts) expect(values[0]?.[1]).toBeGreaterThanOrEqual(4);
      expect(await prometheus.labelValues('gen_ai_tool_name', 'breakerbox_decisions_total')).toEqual([
        'archive',
        'deploy',
        'logs',
        'lookup',
        'mail',
        'maps',
        'museum',
        'orders',
        'prices',
        'quotes',
        'search',
        'tickets',
        'weather',
      ]);
    });
    expect(walk.watch.delivered).toEqual([]);
  });

  test.concurrent('a tool that dies opens its circuit and sends an alert, the other tool continues, and the alert resolves after recovery', async () => {
    await lookup.services.lookup?.break({ kind: 'refuse' });
    await eventually(() => {
      expect(delivered('BreakerboxCircuitOpen', 'lookup-agent', 'firing')[0]?.labels).toMatchObject({
        gen_ai_tool_name: 'lookup',
        severity: 'warning',
        job: 'breakerbox',
      });
    });
    expect(lookup.session.peek('archive')?.state).toBe('closed');
    // B3: the outage costs one failure, however often it is probed, and that failure leaves the window.
    expect(lookup.session.view().state).toBe('active');
    expect(lookup.session.view().budget.remaining).toBeGreaterThanOrEqual(4);
    await lookup.services.lookup?.repair();
    await eventually(() => expect(lookup.session.peek('lookup')?.state).toBe('closed'));
    await eventually(() => expect(delivered('BreakerboxCircuitOpen', 'lookup-agent', 'resolved')).toHaveLength(1));
  });

  test.concurrent('a run that spends its failure budget sends an alert, which resolves once the run is resumed', async () => {
    await spender.services.deploy?.break({ kind: 'unavailable' });
    await spender.services.logs?.break({ kind: 'hang' });
    await eventually(() => {
      for (const way of WAY_NAMES) {
        expect(delivered('BreakerboxBudgetExhausted', 'spender-agent', 'firing', way)).toHaveLength(1);
      }
    });
    expect(spender.session.view()).toMatchObject({ state: 'paused_budget', budget: { remaining: 0 } });
    await spender.services.deploy?.repair();
    await spender.services.logs?.repair();
    expect(operate(spender.box).resume('spender-agent-run').result).toBe('done');
    await eventually(() => expect(delivered('BreakerboxBudgetExhausted', 'spender-agent', 'resolved')).toHaveLength(1));
  });

  test.concurrent('several tools that fail together send one systemic alert, and the alerts of the single tools are inhibited', async () => {
    await fleet.services.orders?.break({ kind: 'refuse' });
    await fleet.services.tickets?.break({ kind: 'refuse' });
    await eventually(() => {
      const held = walk.watch.inhibited.map(({ labels }) => `${labels.alertname} ${labels.gen_ai_tool_name}`);
      expect(held).toEqual(expect.arrayContaining(['BreakerboxCircuitOpen orders', 'BreakerboxCircuitOpen tickets']));
    });
    expect(delivered('BreakerboxSystemicFailure', 'fleet-agent', 'firing')).toHaveLength(1);
    expect(delivered('BreakerboxCircuitOpen', 'fleet-agent', 'firing')).toEqual([]);
    expect(fleet.session.view()).toMatchObject({
      state: 'paused_systemic',
      systemic: { category: 'network', layer: 'dependency' },
      budget: { remaining: 4 },
    });
  });

  test.concurrent('one tool that fails for three agents at once sends one alert, and not one per agent', async () => {
    const { north, south, west } = walk.agents;
    for (const { services } of [north, south, west]) await services.maps?.break({ kind: 'refuse' });
    await eventually(() => {
      for (const { session } of [north, south, west]) expect(session.peek('maps')?.state).not.toBe('closed');
      const correlated = walk.watch.delivered.filter(
        ({ labels }) => labels.alertname === 'BreakerboxCorrelatedOpenings' && labels.scope === 'fleet',
      );
      // Both ways report the same three agents: an agent in two jobs counts as one.
      expect(correlated.map(({ labels: { gen_ai_tool_name, error_type } }) => [gen_ai_tool_name, error_type])).toEqual([
        ['maps', 'network'],
      ]);
    });
  });

  test.each(WAY_NAMES)('Prometheus’ metrics by %s equal the engine’s numbers', async (way) => {
    const value = async (expr: string) => (await prometheus.instant(expr))[0]?.values[0]?.[1];
    for (const { box, session } of [lookup, fleet, spender]) {
      const of = `job="${WAYS[way]}", gen_ai_agent_name="${box.agent}"`;
      await eventually(async () => {
        const { budget, state, circuits } = session.view();
        expect(await value(`breakerbox_budget_limit{${of}}`)).toBe(budget.limit);
        expect(await value(`breakerbox_budget_remaining{${of}}`)).toBe(budget.remaining);
        expect(await value(`breakerbox_sessions_started_total{${of}}`)).toBe(1);
        expect(await value(`breakerbox_budget_consumed_total{${of}}`)).toBe(budget.consumed);
        expect(await value(`breakerbox_sessions{${of}, breakerbox_session_state="${state}"}`)).toBe(1);
        for (const circuit of circuits) {
          const tool = `${of}, gen_ai_tool_name="${circuit.tool}"`;
          expect(await value(`breakerbox_circuits{${tool}, breakerbox_state="${circuit.state}"}`)).toBe(1);
        }
      });
    }
    const of = `job="${WAYS[way]}", gen_ai_agent_name="fleet-agent"`;
    expect(await value(`sum(breakerbox_systemic_events_total{${of}, error_type="network"})`)).toBe(1);
    expect(await value(`breakerbox_systemic_active{${of}}`)).toBe(1);
  });

  describeEngineInPanels(() => walk);

  test('an agent vanishes after it was there for long enough', async () => {
    const visited = 'count_over_time(sum by (job) (breakerbox_sessions{gen_ai_agent_name="visitor-agent"})[5m:1s])';
    await eventually(async () => {
      const counts = (await prometheus.instant(visited)).map(({ values }) => values[0]?.[1] ?? 0);
      expect(counts).toHaveLength(2);
      // Fifteen minutes of the rules. Before that, it may leave without an alert.
      expect(Math.min(...counts)).toBeGreaterThan(15);
    });
    await walk.visitor.kill();
  });

  test('after the outage, probes close the circuits, and inhibited alerts are not delivered', async () => {
    const { north, south, west } = walk.agents;
    for (const { services } of [north, south, west]) await services.maps?.repair();
    await fleet.services.orders?.repair();
    await fleet.services.tickets?.repair();
    fleet.session.confirmRecovered();
    await eventually(() => expect(delivered('BreakerboxSystemicFailure', 'fleet-agent', 'resolved')).toHaveLength(1));
    expect(fleet.session.view()).toMatchObject({ state: 'active' });
    const states = () => fleet.session.view().circuits.map(({ state }) => state);
    await eventually(() => expect(states()).toEqual(['closed', 'closed', 'closed']));
    expect(delivered('BreakerboxCircuitOpen', 'fleet-agent', 'firing')).toEqual([]);
  });

  test('both ways of the metrics send the same alerts', async () => {
    const reported = (way: Way) =>
      walk.watch.delivered
        .filter(({ labels }) => labels.job === WAYS[way])
        .map(({ labels: { job: _, ...labels }, status }) => JSON.stringify([status, ...Object.entries(labels).sort()]))
        .sort();
    expect(reported('scrape')).not.toEqual([]);
    await eventually(() => expect(reported('otlp')).toEqual(reported('scrape')));
  });
});

describe('fallbacks and plans', () => {
  const rejected = (tool: string) => report(seller.session).tools.find((one) => one.tool === tool)?.rejected;

  const OF = `{job="${WAYS.scrape}", gen_ai_agent_name="seller-agent"}`;
  const countsOf = (metric: 'routes' | 'freshness' | 'tasks' | 'prechecks', label: string) =>
    prometheus.countsBy(`${METRIC[metric].prometheus}${OF}`, 'gen_ai_tool_name', label);
  const totalsOf = (metric: 'tokensWasted' | 'tokensAvoided') =>
    prometheus.totalsBy(`${METRIC[metric].prometheus}${OF}`, 'gen_ai_tool_name');

  test('calls of a tool that fails its pre-call check go elsewhere, and do not affect its circuit', async () => {
    await seller.services.mail?.break({ kind: 'unavailable' });
    await eventually(() => {
      expect(rejected('mail')).toMatchObject({ reasons: { unavailable: expect.any(Number) } });
      expect(rejected('mail')?.routes).toEqual({ manual: rejected('mail')?.reasons.unavailable });
    });
    expect(seller.session.peek('mail')?.state).toBe('closed');
  });

  test('calls of two more dead tools go to an alternative, to a last good result, or are deferred, and the plan says so', async () => {
    await seller.services.prices?.break({ kind: 'refuse' });
    await seller.services.weather?.break({ kind: 'unavailable' });
    await eventually(() => {
      expect(rejected('prices')?.routes).toMatchObject({ alternative: expect.any(Number) });
      expect(rejected('weather')?.routes).toMatchObject({ stale: expect.any(Number), defer: expect.any(Number) });
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

  test('everything works again, and Prometheus has everything that the report has', async () => {
    for (const service of Object.values(seller.services)) await service.repair();
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
    // From here on no number changes.
    await seller.stop();
    const { tools } = report(seller.session);
    /** By tool, without the tools for which the report has nothing: they have no series. */
    const reported = (read: (one: SessionReport['tools'][number]) => object | number) =>
      Object.fromEntries(
        tools
          .map((one) => [one.tool, read(one)] as const)
          .filter(([, counted]) => {
            return typeof counted === 'number' ? counted > 0 : Object.keys(counted).length > 0;
          }),
      );
    await eventually(async () => {
      expect(await countsOf('routes', 'breakerbox_route')).toEqual(reported(({ rejected: { routes } }) => routes));
      expect(await countsOf('freshness', 'breakerbox_freshness_label')).toEqual(reported(({ labels }) => labels));
      expect(await totalsOf('tokensWasted')).toEqual(reported(({ tokensWasted }) => tokensWasted));
      // All failed calls cost the same here, so the estimate is exact.
      expect(await totalsOf('tokensAvoided')).toMatchObject({
        prices: TOKENS * (rejected('prices')?.skipped ?? 0),
        weather: TOKENS * (rejected('weather')?.skipped ?? 0),
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

test('the agent that has vanished raises an alert on both ways', () =>
  eventually(() => {
    for (const way of WAY_NAMES) {
      expect(delivered('BreakerboxTelemetryAbsent', 'visitor-agent', 'firing', way)).toHaveLength(1);
    }
  }));

const CONTRACT = Object.values(METRIC)
  .map(({ prometheus: name }) => name)
  .sort();

/** Created with their first use, and left out of a scrape when their time is over. */
const FIRST_USE: readonly string[] = [
  METRIC.circles,
  METRIC.unavailableTime,
  METRIC.retryAfterTime,
  METRIC.circuitsWaiting,
  METRIC.skipsWaiting,
  METRIC.systemicTools,
  METRIC.fleetIgnored,
  METRIC.limits,
  METRIC.spentCalls,
  METRIC.spentCost,
  METRIC.spentTokens,
  METRIC.modelAnswers,
  METRIC.modelCost,
  METRIC.modelTokens,
  METRIC.modelFailures,
].map(({ prometheus: name }) => name);

describe('the scrape text', () => {
  test('has exactly the names of the telemetry contract, and so do the pushed metrics', async () => {
    const { telemetry, otlp } = walk;
    const scraped = await (await fetch(telemetry.metricsUrl ?? '')).text();
    for (const text of [scraped, otlp.text()]) {
      const { target_info: _, ...types } = parseExposition(text).types;
      const always = Object.keys(types).filter((name) => !FIRST_USE.includes(name));
      expect(always.sort()).toEqual(CONTRACT.filter((name) => !FIRST_USE.includes(name)));
      expect(CONTRACT).toEqual(expect.arrayContaining(Object.keys(types)));
    }
  });
});

describeNumbersAtRest(() => walk);
describeQueries(() => walk);
describeRules(() => walk);
