/** The advice for servers in docs/frameworks.md, under "Many conversations". */
import { createBreakerbox, type Session } from '@breakerbox/core';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { currentSession, withSession } from '@breakerbox/instrumentation/session';
import { type ScriptedStep, scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { metrics } from '@opentelemetry/api';
import { generateText, isStepCount, tool } from 'ai';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import {
  circuitsOf,
  newAgent,
  registerMetrics,
  seriesOf,
} from '../../packages/core/src/telemetry/test-support.telemetry.ts';

const tools = guardTools(
  {
    search: tool({
      inputSchema: z.object({ q: z.string() }),
      execute: async ({ q }): Promise<string> => {
        if (q === 'works') return 'found';
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      },
    }),
  },
  currentSession,
);
const prepareStep = breakerPrepareStep(currentSession);

const answer = async (...queries: readonly string[]): Promise<readonly string[]> => {
  const script: readonly ScriptedStep[] = [...queries.map((q) => [{ tool: 'search', input: { q } }]), 'Done.'];
  const { model, heard } = scriptedModel(script);
  await generateText({ model, tools, prepareStep, prompt: 'go', stopWhen: isStepCount(20) });
  return heard();
};

const gauges = () => {
  const { scrape } = registerMetrics();
  const agent = newAgent();
  const living = async () => {
    const lines = await scrape();
    const sessions = seriesOf(agent, lines, 'breakerbox_sessions').map((line) => Number(line.split(' ').at(-1)));
    return { sessions: sessions.reduce((sum, one) => sum + one, 0), circuits: circuitsOf(agent, lines) };
  };
  return { agent, living };
};

afterEach(() => metrics.disable());

test('C12: a session for each conversation: an unavailable tool stays unavailable in its next request, and ends with it', async () => {
  const { agent, living } = gauges();
  const box = createBreakerbox({ agent });
  const sessions = new Map<string, Session>();
  const sessionOf = (conversation: string): Session => {
    const session = sessions.get(conversation) ?? box.session({ id: conversation });
    sessions.set(conversation, session);
    return session;
  };
  const chat = (conversation: string, ...queries: readonly string[]) =>
    withSession(sessionOf(conversation), () => answer(...queries));

  await Promise.all([chat('broken', 'a', 'b', 'c'), chat('working', 'works')]);
  const [[refused], [found]] = await Promise.all([chat('broken', 'works'), chat('working', 'works')]);
  expect(refused).toMatch(/'search' is unavailable/);
  expect(found).toBe('found');
  expect(await living()).toEqual({ sessions: 2, circuits: { open: 1, closed: 1 } });

  for (const session of sessions.values()) session.end();
  expect(await living()).toEqual({ sessions: 0, circuits: {} });
});

test('C12: a session for each request: circuits belong to the process, and no session is left', async () => {
  const { agent, living } = gauges();
  const box = createBreakerbox({ agent, scope: 'process' });
  const chat = async (...queries: readonly string[]) => {
    const session = box.session();
    try {
      return await withSession(session, () => answer(...queries));
    } finally {
      session.end();
    }
  };

  await chat('a', 'b', 'c');
  expect((await chat('works'))[0]).toMatch(/'search' is unavailable/);
  expect(await living()).toEqual({ sessions: 0, circuits: { open: 1 } });
});
