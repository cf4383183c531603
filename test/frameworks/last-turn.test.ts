/** D6: a pause ends the loop. The model reads it, has one last turn without tools, and no further request is made. */
import { createBreakerbox } from '@breakerbox/core';
import { restore, snapshot } from '@breakerbox/core/snapshot';
import { expect, test } from 'vitest';
import { eagerAgents } from './eager-agents.ts';

const boxOf = (mode: 'automatic' | 'observe_only' = 'automatic') =>
  createBreakerbox({ agent: 'lister', tools: { list_files: { mode } }, limits: { calls: 3 } });

test.each(eagerAgents)('D6: $name: the model answers once more without tools', async ({ run, more = 2, name }) => {
  let calls = 0;
  const ran = await run(boxOf().session(), async () => {
    calls += 1;
    return `file-${calls}`;
  });
  expect(calls).toBe(3);
  expect(ran.requests).toBe(3 + more);
  if (name.startsWith('Claude')) return;
  expect(ran.text).toBe('I have seen three folders.');
});

test.each(eagerAgents.filter(({ name }) => !/^(?:Anthropic|Claude|OpenAI)/.test(name)))(
  'D6: $name: so does a model that calls a tool in that turn nevertheless',
  async ({ run, more = 2 }) => {
    let calls = 0;
    const list = async (): Promise<string> => `file-${++calls}`;
    const ran = await run(boxOf().session(), list, true);
    expect(calls).toBe(3);
    expect(ran).toEqual({ requests: 3 + more, text: 'I have seen three folders.' });
  },
);

test.each(eagerAgents.filter(({ name }) => /^(?:LangChain|Google)/.test(name)))(
  'D6: $name: an agent without tools answers in a session that is paused',
  async ({ run }) => {
    const session = boxOf().session();
    for (let call = 1; call <= 4; call += 1) session.acquire('list_files').settle({ outcome: 'success' });
    expect(await run(session, async () => 'never', false, false)).toEqual({
      requests: 1,
      text: 'I have seen three folders.',
    });
  },
);

test.each(eagerAgents.filter(({ name }) => !/^(?:Anthropic|Claude)/.test(name)))(
  'D6, C11: $name: a restored run that a limit pauses answers at once',
  async ({ run }) => {
    const session = boxOf().session();
    for (let call = 1; call <= 3; call += 1) session.acquire('list_files').settle({ outcome: 'success' });
    const ran = await run(restore(boxOf(), snapshot(session)), async () => 'never');
    expect(ran).toEqual({ requests: 1, text: 'I have seen three folders.' });
  },
);

test.each(eagerAgents.filter(({ name }) => !/^(?:Anthropic|Claude)/.test(name)))(
  'D6, D4: $name: once the time for calls is over, the model answers at once',
  async ({ run }) => {
    let ms = 0;
    const clock = { now: () => ms, unixNow: () => ms };
    const session = createBreakerbox({ agent: 'lister', clock, limits: { durationMs: 60_000 } }).session();
    const ran = await run(session, async () => {
      ms += 20_000; // 54 s are for calls.
      return `file-${ms}`;
    });
    expect(ran).toEqual({ requests: 4, text: 'I have seen three folders.' });
  },
);

test.each(eagerAgents.filter(({ name }) => !/^(?:Anthropic|Claude)|guardModels/.test(name)))(
  'D6, C1: $name: a run whose tools are only observed goes on',
  async ({ run }) => {
    let calls = 0;
    const observed = boxOf('observe_only').session();
    await run(observed, async () => {
      calls += 1;
      if (calls === 6) throw new Error('enough');
      return `file-${calls}`;
    }).catch(() => {});
    expect(calls).toBeGreaterThanOrEqual(6);
  },
);

test.each(eagerAgents.filter(({ name }) => !/^(?:Anthropic|Claude)/.test(name)))(
  'D2: $name: each turn is one step, also after turns by hand which step() has ended',
  async ({ run }) => {
    const session = createBreakerbox({ agent: 'lister', limits: { steps: 6 } }).session();
    for (let turn = 1; turn <= 2; turn += 1) {
      session.acquire('list_files').settle({ outcome: 'success' });
      session.step();
    }
    let calls = 0;
    await run(session, async () => {
      calls += 1;
      return `file-${calls}`;
    });
    expect(calls).toBe(4);
  },
);
