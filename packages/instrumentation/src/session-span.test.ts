import { createBreakerbox, type Session } from '@breakerbox/core';
import { context, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { guard } from './guard.ts';
import { currentSession, withSession } from './session.ts';
import { startTracing, stopTracing, type Traced } from './test-support/tracing.ts';

const TOOLS = ['search', 'fetch', 'mail', 'orders', 'weather'];
const box = createBreakerbox({ agent: 'researcher' });
let traced: Traced;

const framework = () => trace.getTracer('framework');

beforeEach(() => {
  traced = startTracing();
});
afterEach(stopTracing);

/** A model, then five guarded tools, each with a request of its own. */
const runAgent = async (session: Session | (() => Session)): Promise<void> => {
  framework().startSpan('chat').end();
  for (const tool of TOOLS) {
    await guard(session, tool, async () => {
      await Promise.resolve();
      framework().startSpan('GET').end();
    })(tool);
  }
};

const beneath = (root: string): string[] => [
  ...TOOLS.flatMap((tool) => [`${root} > execute_tool ${tool} > GET`, `${root} > execute_tool ${tool}`]),
];

describe('a run of guarded tools', () => {
  test('is one trace with withSession, and a trace for each call without a span', async () => {
    const plain = box.session();
    await withSession(plain, () => runAgent(currentSession));
    const alone = TOOLS.flatMap((tool) => [`execute_tool ${tool} > GET`, `execute_tool ${tool}`]);
    expect(traced.paths()).toEqual(['chat', ...alone]);

    stopTracing();
    traced = startTracing();
    const session = box.session({ span: true });
    await withSession(session, () => runAgent(currentSession));
    session.end();
    const root = 'invoke_agent researcher';
    expect(traced.paths()).toEqual([`${root} > chat`, ...beneath(root), root]);
  });

  test('keeps the spans of a framework around its tools, inside the span of the session', async () => {
    const session = box.session({ span: true });
    await withSession(session, () =>
      framework().startActiveSpan('invoke_agent framework', async (span) => {
        await withSession(session, () => runAgent(session));
        span.end();
      }),
    );
    session.end();
    const root = 'invoke_agent researcher > invoke_agent framework';
    expect(traced.paths()).toEqual([`${root} > chat`, ...beneath(root), root, 'invoke_agent researcher']);
  });

  test('does not mix with a concurrent run', async () => {
    await framework().startActiveSpan('POST /chat', async (request) => {
      const sessions = [box.session({ id: 'one', span: true }), box.session({ id: 'other', span: true })];
      await Promise.all(sessions.map((session) => withSession(session, () => runAgent(currentSession))));
      for (const session of sessions) session.end();
      request.end();
    });
    const root = 'POST /chat > invoke_agent researcher';
    expect(traced.paths().filter((path) => path === root)).toHaveLength(2);
    expect(traced.paths().toSorted()).toEqual(
      ['POST /chat', ...[root, `${root} > chat`, ...beneath(root)].flatMap((path) => [path, path])].toSorted(),
    );
  });

  test('enters no other context without a span', () => {
    const key = Symbol('baggage');
    const active = context.active().setValue(key, 1);
    expect(context.with(active, () => withSession(box.session(), () => context.active()))).toBe(active);
  });
});

test('the span of a guarded call has the tool type function', async () => {
  await guard(box.session(), 'search', () => 'found')('x');
  expect(traced.attributes('execute_tool search')[0]?.['gen_ai.tool.type']).toBe('function');
});
