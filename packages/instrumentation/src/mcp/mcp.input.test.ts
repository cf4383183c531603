import { expect, test } from 'vitest';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardMcpClient } from './mcp.ts';

const found = { content: [{ type: 'text', text: 'found' }] };
const asks = { resultType: 'input_required', inputRequests: { who: { method: 'elicitation/create' } } };

/** A client whose caller answers the server's questions himself (`allowInputRequired` of SDK 2). */
const clientOf = (results: readonly unknown[]) => {
  const left = [...results];
  return {
    callTool: async (_params: { name: string; arguments?: unknown }): Promise<unknown> => left.shift(),
    listTools: async () => ({ tools: [{ name: 'search' }] }),
  };
};

const watch = () => watchedSession({ tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } });

test('C8: a result that asks for input costs nothing, and closes no circuit', async () => {
  const { session, decisions, outcomes } = watch();
  session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  for (let step = 0; step < 3; step += 1) session.step();
  const guarded = guardMcpClient(clientOf([asks, found]), session);
  expect(await guarded.callTool({ name: 'search' })).toBe(asks);
  expect(await guarded.callTool({ name: 'search' })).toEqual(found);
  expect(decisions.slice(1)).toEqual(['search: probe', 'search: probe']);
  expect(outcomes.slice(1)).toEqual(['search: ignored, cancelled', 'search: success']);
});

test('F2: it is not kept as a last good result either', async () => {
  const { session } = watch();
  const guarded = guardMcpClient(clientOf([asks]), session);
  await guarded.callTool({ name: 'search' });
  session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  expect(await guarded.callTool({ name: 'search' })).toMatchObject({ isError: true });
});
