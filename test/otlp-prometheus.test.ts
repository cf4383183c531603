import { createBreakerbox, METRIC } from '@breakerbox/core';
import { startTelemetry } from '@breakerbox/telemetry';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseExposition } from './exposition.ts';
import { type OtlpPrometheus, pushVariables, startOtlpPrometheus } from './otlp-prometheus.ts';
import { familyName, type OtlpResource } from './otlp-translation.ts';

describe('the Prometheus name', () => {
  test.each(Object.values(METRIC).map((metric) => [metric.prometheus, metric] as const))(
    'is %s in the specification too',
    (name, { name: otel, unit, kind }) => {
      expect(familyName(otel, unit, kind === 'updowncounter' ? 'gauge' : kind)).toBe(name);
    },
  );

  test.each([
    ['a.b', '', 'gauge', 'a_b'],
    ['a.seconds', 's', 'gauge', 'a_seconds'],
    ['a.total', '{call}', 'counter', 'a_total'],
    ['a.seconds.total', 's', 'counter', 'a_seconds_total'],
    ['a', 's', 'counter', 'a_seconds_total'],
    ['share', '1', 'gauge', 'share_ratio'],
    ['share', '1', 'counter', 'share_total'],
    ['a..b__c', '', 'gauge', 'a_b_c'],
    ['2xx', '', 'gauge', '_2xx'],
  ] as const)('of %s in %j as a %s is %s', (name, unit, type, expected) => {
    expect(familyName(name, unit, type)).toBe(expected);
  });

  test('is not guessed for an unknown unit', () => {
    expect(() => familyName('a', 'KiBy/s', 'gauge')).toThrow(/unit "KiBy\/s".*UNITS/);
  });
});

describe('the receiver', () => {
  const receivers: OtlpPrometheus[] = [];
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map((one) => one.close()));
    vi.unstubAllEnvs();
  });
  const start = async (...options: Parameters<typeof startOtlpPrometheus>): Promise<OtlpPrometheus> => {
    const receiver = await startOtlpPrometheus(...options);
    receivers.push(receiver);
    return receiver;
  };
  const scrape = async ({ target }: OtlpPrometheus) =>
    parseExposition(await (await fetch(`http://${target}/metrics`)).text());

  const push = ({ endpoint }: OtlpPrometheus, service: string, instance: string, value: number) => {
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
    const resource: OtlpResource = {
      resource: {
        attributes: [text('service.name', service), text('service.instance.id', instance), text('team.name', 'a "b"')],
      },
      scopeMetrics: [
        {
          metrics: [
            {
              name: 'calls',
              unit: '{call}',
              sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ asInt: String(value) }] },
            },
          ],
        },
      ],
    };
    return fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceMetrics: [resource] }),
    });
  };

  test('shows several processes at once by job and instance, and drops one that is gone', async () => {
    let now = 0;
    const receiver = await start(1_000, () => now);
    await push(receiver, 'one', '1', 3);
    await push(receiver, 'one', '2', 4);
    now = 600;
    await push(receiver, 'two', '1', 5);
    await push(receiver, 'one', '1', 7);
    expect(await scrape(receiver)).toEqual({
      types: { target_info: 'gauge', calls_total: 'counter' },
      series: {
        'calls_total{instance="1",job="one"}': 7,
        'calls_total{instance="2",job="one"}': 4,
        'calls_total{instance="1",job="two"}': 5,
        'target_info{instance="1",job="one",team_name="a \\"b\\""}': 1,
        'target_info{instance="2",job="one",team_name="a \\"b\\""}': 1,
        'target_info{instance="1",job="two",team_name="a \\"b\\""}': 1,
      },
    });
    now = 1_200;
    expect(Object.keys((await scrape(receiver)).series).filter((name) => name.startsWith('calls_total'))).toEqual([
      'calls_total{instance="1",job="one"}',
      'calls_total{instance="1",job="two"}',
    ]);
  });

  test('refuses a metric that it cannot name, and says why', async () => {
    const receiver = await start(1_000);
    const response = await fetch(receiver.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: 'x',
    });
    expect(response.status).toBe(400);
    expect(receiver.refused).toEqual([expect.stringContaining('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/json')]);
  });

  test('shows the same series and values as the scrape endpoint, under the names of the contract', async () => {
    const receiver = await start(60_000);
    const variables = { ...pushVariables(receiver, 100), OTEL_METRICS_EXPORTER: 'prometheus,otlp' };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const telemetry = startTelemetry({ serviceName: 'both-ways', prometheus: { port: 0 } });
    try {
      await telemetry.ready;
      const box = createBreakerbox({
        agent: 'both-agent',
        tools: { search: { alternatives: [{ tool: 'news', degradation: 'low' }] }, news: {} },
      });
      const session = box.session({ id: 'one' });
      for (let call = 0; call < 5; call += 1) {
        const permit = session.acquire('search');
        permit.settle({ error: Object.assign(new Error('down'), { code: 'ECONNREFUSED' }), tokens: 100 });
        session.acquire('news').settle({ outcome: 'success', tokens: 50 });
      }

      const scraped = async () => {
        const text = await (await fetch(telemetry.metricsUrl ?? '')).text();
        return parseExposition(text, (label) => label.startsWith('otel_scope_'));
      };
      const pushed = () => parseExposition(receiver.text(), (label) => ['job', 'instance'].includes(label));
      const ours = ({ types, series }: ReturnType<typeof pushed>) => {
        const { target_info: _, ...metrics } = types;
        const kept = Object.entries(series).filter(([name]) => !name.startsWith('target_info'));
        return { types: metrics, series: Object.fromEntries(kept) };
      };
      await vi.waitFor(async () => expect(ours(pushed())).toEqual(ours(await scraped())), { timeout: 40_000 });

      const { types, series } = ours(pushed());
      expect(Object.keys(types).sort()).toEqual(
        Object.values(METRIC)
          .map(({ prometheus }) => prometheus)
          .sort(),
      );
      const search = 'gen_ai_agent_name="both-agent",gen_ai_tool_name="search"';
      expect(series).toMatchObject({
        [`breakerbox_circuits{breakerbox_state="open",${search}}`]: 1,
        [`breakerbox_outcomes_total{breakerbox_outcome="failure",error_type="network",${search}}`]: 3,
        [`breakerbox_tokens_wasted_total{${search}}`]: 300,
        [`gen_ai_execute_tool_duration_seconds_bucket{error_type="network",${search},le="+Inf"}`]: 3,
        'breakerbox_budget_remaining{gen_ai_agent_name="both-agent"}': 4,
      });
      expect(receiver.text()).toMatch(/^target_info\{job="both-ways",instance="[\w-]+",telemetry_sdk_language=/m);
      expect(receiver.text()).not.toContain('otel_scope');
      expect(receiver.refused).toEqual([]);
    } finally {
      await telemetry.shutdown();
    }
  });
});
