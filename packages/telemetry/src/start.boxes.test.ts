import { createBreakerbox, followProviders } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTelemetry, type TelemetryHandle } from './index.ts';
import { registeredApis, unregister } from './otel-globals.ts';
import { collectDiag } from './test-support/diag-messages.ts';

vi.mock(import('@breakerbox/core'), { spy: true });

let messages: string[] = [];

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) vi.stubEnv(name, undefined);
  messages = collectDiag();
});

afterEach(() => {
  unregister(registeredApis());
  vi.unstubAllEnvs();
  diag.disable();
});

async function scrape(handle: TelemetryHandle): Promise<string[]> {
  await handle.ready;
  const response = await fetch(handle.metricsUrl ?? 'there is no scrape endpoint');
  const lines = (await response.text()).split('\n');
  return lines
    .filter((line) => line.startsWith('breakerbox_'))
    .map((line) => line.replace(/,?otel_scope_\w+="[^"]*"/g, ''));
}

/** A box that has decided before telemetry is there, and never again. */
function boxThatCalledOnce(agent: string): void {
  const session = createBreakerbox({ agent, tools: { search: {}, fetch: {} } }).session();
  session.acquire('search').settle({ outcome: 'success' });
}

const outcome = (agent: string, tool: string, value: number): string =>
  `breakerbox_outcomes_total{gen_ai_agent_name="${agent}",gen_ai_tool_name="${tool}",breakerbox_outcome="success"} ${value}`;

test('boxes that exist before the start are scraped at once, with their earlier counts', async () => {
  boxThatCalledOnce('early');
  const handle = startTelemetry({ prometheus: { port: 0 } });
  const lines = await scrape(handle);
  await handle.shutdown();
  expect(lines).toContain(outcome('early', 'search', 1));
  expect(lines).toContain(outcome('early', 'fetch', 0));
  expect(lines).toContain('breakerbox_budget_exhaustions_total{gen_ai_agent_name="early"} 0');
  expect(messages).toEqual([]);
});

test('an error while boxes are bound stops neither start nor shutdown, and they are bound when used', async () => {
  const fail = (): never => {
    throw new Error('core is broken');
  };
  vi.mocked(followProviders).mockImplementationOnce(fail);
  const handle = startTelemetry({ prometheus: { port: 0 } });
  expect(messages).toEqual([
    expect.stringContaining(
      'could not be connected to the SDK. Each connects when it is used next Error: core is broken',
    ),
  ]);
  boxThatCalledOnce('used later');
  expect(await scrape(handle)).toContain(outcome('used later', 'search', 1));
  vi.mocked(followProviders).mockImplementationOnce(fail);
  await handle.shutdown();
  expect(registeredApis().size).toBe(0);
});
