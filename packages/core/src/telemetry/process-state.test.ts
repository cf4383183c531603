import { createNoopMeter, metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAgentCells, toolCells } from './metrics.ts';
import { processState, SHAPE } from './process-state.ts';
import { newAgent, registerMetrics, seriesOf } from './test-support.ts';

afterEach(() => metrics.disable());

/** Another copy of this package: its modules are loaded again, and share only globalThis. */
const anotherCopy = async () => {
  vi.resetModules();
  return { ...(await import('../index.ts')), ...(await import('./hub.ts')) };
};

describe('two copies in one process', () => {
  test('count into the same cells, and are exported once', async () => {
    const agent = newAgent();
    const { scrape } = registerMetrics();
    for (const copy of [await anotherCopy(), await anotherCopy()]) {
      const session = copy.createBreakerbox({ agent, tools: { a: {} } }).session();
      session.acquire('a').settle({ outcome: 'success' });
    }
    const lines = await scrape();
    expect(seriesOf(agent, lines, 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 2',
    );
    expect(seriesOf(agent, lines, 'breakerbox_sessions')).toContain(
      'breakerbox_sessions{breakerbox_session_state="active"} 2',
    );
    expect(seriesOf(agent, lines, 'gen_ai_execute_tool_duration_count')).toEqual([
      'gen_ai_execute_tool_duration_count{gen_ai_tool_name="a"} 2',
    ]);
  });

  test('follow a new SDK together, and let go of the old one', async () => {
    const agent = newAgent();
    const old = registerMetrics();
    const copies = [await anotherCopy(), await anotherCopy()];
    const sessions = copies.map((copy) => copy.createBreakerbox({ agent, tools: { a: {} } }).session());
    metrics.disable();
    const { scrape } = registerMetrics();
    for (const session of sessions) session.acquire('a').settle({ outcome: 'success' });
    const outcome = 'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 2';
    expect(seriesOf(agent, await scrape(), 'breakerbox_outcomes_total')).toContain(outcome);
    expect(seriesOf(agent, await old.scrape(), 'breakerbox_outcomes_total')).toEqual([]);
  });

  test('a copy whose API sees no SDK leaves the other its own', async () => {
    const agent = newAgent();
    const copy = await anotherCopy();
    const session = copy.createBreakerbox({ agent, tools: { a: {} } }).session();
    const { scrape } = registerMetrics();
    copy.followProviders();
    const blind = await anotherCopy();
    // As the API of a newer minor does with an SDK that registered itself with an older one.
    const asked = vi.spyOn(metrics, 'getMeterProvider').mockReturnValue({ getMeter: createNoopMeter });
    blind.followProviders();
    asked.mockRestore();
    session.acquire('a').settle({ outcome: 'success' });
    expect(seriesOf(agent, await scrape(), 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 1',
    );
  });
});

test('its shape is that of this number: raise SHAPE, and write the new shape here, when it changes', () => {
  const cells = createAgentCells('a');
  const tool = toolCells(cells, 't', 1);
  const keysOf = (one: object): string[] =>
    (one instanceof Map ? [...one.keys()] : Object.keys(one)).map(String).sort();
  const shape = { state: keysOf(processState()) } as Record<string, string[]>;
  for (const [name, part] of [...Object.entries(cells), ...Object.entries(tool)]) {
    shape[name] = typeof part === 'object' && name !== 'tools' ? keysOf(part) : [];
  }
  expect({ SHAPE, shape }).toMatchInlineSnapshot(`
    {
      "SHAPE": 3,
      "shape": {
        "agent": [],
        "budgetConsumed": [
          "attributes",
          "value",
        ],
        "budgetExhaustions": [
          "attributes",
          "value",
        ],
        "budgetLimit": [
          "attributes",
          "value",
        ],
        "budgetLow": [
          "attributes",
          "value",
        ],
        "budgetRemaining": [
          "attributes",
          "value",
        ],
        "circuits": [
          "closed",
          "disabled",
          "forced_open",
          "half_open",
          "observe_only",
          "open",
        ],
        "costedFailures": [
          "attributes",
          "value",
        ],
        "decisions": [
          "budget_exhausted",
          "closed",
          "disabled",
          "forced_open",
          "group_open",
          "group_probe_due",
          "key_open",
          "key_probe_due",
          "no_circuit",
          "not_allowed",
          "open",
          "probe_due",
          "probe_in_flight",
          "repeat",
          "systemic",
          "unavailable",
          "undeclared",
          "would_pause",
          "would_skip",
        ],
        "duration": [],
        "freshness": [
          "cached",
          "freshness_unknown",
          "stale",
          "unverified",
        ],
        "isGroup": [],
        "openedTime": [],
        "otherDecisions": [],
        "outcomes": [
          "failure:filesystem",
          "failure:network",
          "failure:permission",
          "failure:rate_limit",
          "failure:resource",
          "failure:server",
          "failure:timeout",
          "failure:unknown",
          "ignored:cancelled",
          "ignored:denied",
          "ignored:invalid_input",
          "ignored:tool_error",
          "success",
        ],
        "prechecks": [
          "available",
          "degraded",
          "unavailable",
        ],
        "routes": [
          "alternative:high",
          "alternative:low",
          "alternative:unknown",
          "defer",
          "manual",
          "stale",
        ],
        "sessions": [
          "active",
          "paused_budget",
          "paused_systemic",
        ],
        "sessionsStarted": [
          "attributes",
          "value",
        ],
        "state": [
          "agents",
          "binding",
          "durationsSinceMs",
          "exemplars",
          "feedsSdk",
          "keepsDurations",
          "keepsExemplars",
          "live",
          "looked",
          "measures",
          "sinceMs",
          "source",
        ],
        "systemicActive": [
          "attributes",
          "value",
        ],
        "systemicEvents": [
          "_MIXED",
          "filesystem",
          "network",
          "permission",
          "rate_limit",
          "resource",
          "server",
          "timeout",
          "unknown",
        ],
        "tasks": [
          "achievable",
          "deferred",
        ],
        "tokensAvoided": [
          "attributes",
          "value",
        ],
        "tokensWasted": [
          "attributes",
          "value",
        ],
        "tools": [],
        "transitions": [
          "closed>open",
          "half_open>closed",
          "half_open>open",
          "open>half_open",
        ],
      },
    }
  `);
});
