import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENT_NAMES } from './agent-names.ts';
import { createAgents, startServices, toolInput, type World } from './agents.ts';
import { getJson } from './http-get.ts';
import type { McpServer } from './mcp-server.ts';
import { createPlan } from './plan.ts';
import { estimateTokens } from './tools.ts';

let world: World;
beforeAll(async () => {
  world = { services: await startServices(), mcp: {} as McpServer };
});
afterAll(() => Promise.all(Object.values(world.services).map((service) => service.close())));

describe('the fleet', () => {
  test('has three agents, and no two tools have the same name', () => {
    const agents = createAgents(world, { names: AGENT_NAMES, pace: 1 });
    expect(agents.map(({ name }) => name)).toEqual(['research-agent', 'support-agent', 'ops-agent']);
    const tools = agents.flatMap(({ toolNames }) => toolNames);
    expect(new Set(tools).size).toBe(tools.length);
    for (const { duties, toolNames } of agents) {
      expect(toolNames).toEqual(expect.arrayContaining(duties.flatMap((duty) => duty.tools)));
    }
  });

  test('has only the wanted agents, slowed by the wanted pace', () => {
    const [ops, ...others] = createAgents(world, { names: ['ops-agent'], pace: 10 });
    expect(others).toEqual([]);
    expect(ops?.thinkMs).toBe(3500);
  });

  test('has every tool of its sessions', () => {
    for (const agent of createAgents(world, { names: AGENT_NAMES, pace: 1 })) {
      const session = agent.box.session();
      expect(Object.keys(agent.tools(session)).sort()).toEqual([...agent.toolNames].sort());
      session.end();
    }
  });
});

test('L5: the second model of support-agent goes on with the plan while the first provider is down', async () => {
  const { support } = Object.fromEntries(
    createAgents(world, { names: ['support-agent'], pace: 1 }).map((agent) => ['support', agent]),
  );
  const plan = createPlan({ duties: [{ name: 'orders', tools: ['lookup_order'] }], steps: 9, input: toolInput });
  const model = support?.model(plan, { thinkMs: 0 });
  if (typeof model !== 'object' || model.specificationVersion !== 'v4') throw new Error('not a model');
  const step = async () => (await model.doGenerate({ prompt: [] })).providerMetadata?.breakerbox?.model;
  expect(await step()).toBe('anthropic/claude');
  await world.services.claude.break({ kind: 'unavailable' });
  expect([await step(), await step(), await step()]).toEqual(['openai/gpt', 'openai/gpt', 'openai/gpt']);
  await world.services.claude.repair();
});

describe('what the model asks for', () => {
  test('is the same each time if a last good result is to answer', () => {
    expect(toolInput('list_deployments', 1)).toEqual(toolInput('list_deployments', 2));
    expect(toolInput('query_logs', 1)).not.toEqual(toolInput('query_logs', 2));
  });

  test('is sometimes invalid, never twice in the same way, and the service rejects it', async () => {
    const asked = Array.from({ length: 14 }, (_, n) => toolInput('lookup_order', n) as { readonly q: string });
    expect(new Set(asked.map(({ q }) => q)).size).toBe(asked.length);
    const { url } = world.services.orders;
    const answers = await Promise.allSettled(asked.map((query) => getJson(url, query, undefined)));
    expect(answers.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([6, 13]);
    expect(answers[6]).toMatchObject({ reason: { status: 400 } });
  });
});

describe('what a call costs', () => {
  test('is a fixed part, and a quarter of the characters that the model reads', () => {
    expect(estimateTokens({ result: { text: 'x'.repeat(389) } })).toBe(160);
    expect(estimateTokens({ error: new Error('x'.repeat(33)) })).toBe(70);
    expect(estimateTokens({ result: undefined })).toBe(60);
  });
});
