import {
  type Context,
  type ContextManager,
  context,
  diag,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { afterEach, describe, expect, test } from 'vitest';
import type { Session } from '../session-api.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, succeedOnce, trip, watchDiag } from '../test-support.ts';
import { ATTR } from './semconv.ts';
import { registerTraces } from './test-support.telemetry.ts';

const agent = 'traced';
const TOOLS = ['a', 'b', 'c', 'd', 'e'];

afterEach(() => {
  trace.disable();
  context.disable();
  diag.disable();
});

/** Five tools, each with a request of its own. */
const run = async (session: Session): Promise<void> => {
  for (const tool of TOOLS) {
    const permit = session.acquire(tool);
    await context.with(permit.context, async () => trace.getTracer('http').startSpan(`GET /${tool}`).end());
    permit.settle({ outcome: 'success' });
  }
};

const within = <T>(name: string, part: () => T): T =>
  trace.getTracer('framework').startActiveSpan(name, (span) => {
    try {
      return part();
    } finally {
      span.end();
    }
  });

/** `name < name of its parent`, or `name` for a root. */
const tree = (spans: readonly ReadableSpan[]): string[] =>
  spans.map(({ name, parentSpanContext: above }) => {
    const parent = spans.find((one) => one.spanContext().spanId === above?.spanId);
    return parent === undefined ? name : `${name} < ${parent.name}`;
  });

const traces = (spans: readonly ReadableSpan[]): Set<string> => new Set(spans.map((one) => one.spanContext().traceId));

describe('the span of a session', () => {
  test('it is between a caller and the decisions, even if the caller is read twice from one header', () => {
    const finished = registerTraces();
    const { box } = bench({ agent });
    const caller = {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      traceFlags: 1,
      isRemote: true,
    };
    const inCaller = <T>(part: () => T): T =>
      context.with(trace.setSpan(context.active(), trace.wrapSpanContext(caller)), part);
    const session = inCaller(() => box.session({ id: 'run-2', span: true }));
    inCaller(() => succeedOnce(session, 'a'));
    session.end();
    expect(tree(finished())).toEqual(['execute_tool a < invoke_agent traced', 'invoke_agent traced']);
    expect(finished().at(-1)?.parentSpanContext?.spanId).toBe(caller.spanId);
  });

  test('it makes one trace of a run, in which each call would otherwise have its own trace', async () => {
    const finished = registerTraces();
    const { box } = bench({ agent });
    await run(box.session());
    expect(traces(finished()).size).toBe(5);
    finished().length = 0;
    const session = box.session({ id: 'run-2', span: true });
    await run(session);
    session.end();
    expect(traces(finished()).size).toBe(1);
    expect(tree(finished())).toEqual([
      ...TOOLS.flatMap((tool) => [`GET /${tool} < execute_tool ${tool}`, `execute_tool ${tool} < invoke_agent traced`]),
      'invoke_agent traced',
    ]);
    const span = finished().at(-1);
    expect(span?.kind).toBe(SpanKind.INTERNAL);
    expect(span?.attributes).toEqual({
      [ATTR.operation]: 'invoke_agent',
      [ATTR.agent]: agent,
      [ATTR.conversation]: 'run-2',
      [ATTR.sessionState]: 'active',
      [ATTR.outcome]: 'success',
      [ATTR.calls]: 5,
      [ATTR.rejected]: 0,
      [ATTR.budgetRemaining]: 5,
    });
  });

  test('it is a child of the request in which it starts, and the parent of its decisions', () => {
    const finished = registerTraces();
    const { box } = bench({ agent });
    within('POST /chat', () => {
      const session = box.session({ span: true });
      succeedOnce(session, 'a');
      within('chat gpt', () => succeedOnce(session, 'b'));
      session.end();
    });
    expect(tree(finished())).toEqual([
      'execute_tool a < invoke_agent traced',
      'execute_tool b < chat gpt',
      'chat gpt < POST /chat',
      'invoke_agent traced < POST /chat',
      'POST /chat',
    ]);
  });

  test("it is the parent of a framework's spans in its context, and they are parents of the decisions", async () => {
    const finished = registerTraces();
    const { box } = bench({ agent });
    await within('POST /chat', async () => {
      const session = box.session({ span: true });
      await context.with(session.context, async () => {
        await Promise.resolve();
        within('chat gpt', () => {});
        within('tools', () => {
          succeedOnce(session, 'a');
          context.with(session.context, () => succeedOnce(session, 'b'));
        });
      });
      session.end();
    });
    expect(tree(finished())).toEqual([
      'POST /chat',
      'chat gpt < invoke_agent traced',
      'execute_tool a < tools',
      'execute_tool b < tools',
      'tools < invoke_agent traced',
      'invoke_agent traced < POST /chat',
    ]);
  });

  test('it says how the run ended: calls that ran and were rejected, and an error if the session was paused', () => {
    const finished = registerTraces();
    const { box } = bench({ agent });
    const session = box.session({ span: true });
    for (const tool of ['made_up_1', 'made_up_2', 'made_up_3', 'made_up_4', 'made_up_5'])
      failOnce(session, tool, 'server');
    session.acquire('b');
    session.end();
    const span = finished().at(-1);
    expect(span?.attributes).toMatchObject({
      [ATTR.sessionState]: 'paused_budget',
      [ATTR.outcome]: 'failure',
      [ATTR.calls]: 5,
      [ATTR.rejected]: 1,
      [ATTR.budgetRemaining]: 0,
    });
    expect(span?.status.message).toBe('The session ended while it was paused: its failure budget was used up.');
  });

  test('a run that ended has an outcome and no status; one that idled has none, because its caller may have left it', () => {
    const finished = registerTraces();
    const { box, clock } = bench({ agent, sessionIdleMs: 1_000 });
    box.session({ id: 'ends', span: true }).end();
    box.session({ id: 'idles', span: true }).child({ id: 'child' });
    clock.advance(1_000);
    for (let others = 0; others < 100 && finished().length < 3; others += 1) box.session().end();
    const outcomes = finished().map(({ name, status: { code }, attributes }) => [
      name,
      attributes[ATTR.conversation],
      code,
      attributes[ATTR.outcome],
    ]);
    expect(outcomes).toEqual([
      ['invoke_agent traced', 'ends', SpanStatusCode.UNSET, 'success'],
      ['invoke_agent child', 'idles', SpanStatusCode.UNSET, undefined],
      ['invoke_agent traced', 'idles', SpanStatusCode.UNSET, undefined],
    ]);
  });

  test('it replaces a span without a trace, made by a tracer from before the SDK', () => {
    const early = trace.getTracer('early').startSpan('noop');
    const finished = registerTraces();
    const { box } = bench({ agent });
    const session = box.session({ span: true });
    context.with(trace.setSpan(context.active(), early), () => succeedOnce(session, 'a'));
    session.end();
    expect(tree(finished())).toEqual(['execute_tool a < invoke_agent traced', 'invoke_agent traced']);
  });

  test('it keeps other values in the context', () => {
    registerTraces();
    const { box } = bench({ agent });
    const key = Symbol('baggage');
    const session = box.session({ span: true });
    const mine = context.active().setValue(key, 'kept');
    expect(context.with(mine, () => session.context.getValue(key))).toBe('kept');
    expect(context.with(mine, () => session.acquire('a').context.getValue(key))).toBe('kept');
  });

  test('two sessions at once do not mix', async () => {
    const finished = registerTraces();
    const { box } = bench({ agent });
    const sessions = ['one', 'other'].map((id) => box.session({ id, span: true }));
    await Promise.all(sessions.map((session) => context.with(session.context, () => run(session))));
    for (const session of sessions) session.end();
    expect(traces(finished()).size).toBe(2);
    for (const id of ['one', 'other']) {
      const own = finished().filter(({ attributes }) => attributes[ATTR.conversation] === id);
      expect([own.length, traces(own).size]).toEqual([6, 1]);
    }
  });

  test('C11: a restored session has one too', () => {
    const finished = registerTraces();
    const { box, session } = bench({ agent });
    trip(session, 'a');
    const restored = restore(box, snapshot(session), { span: true });
    restored.acquire('a');
    restored.end();
    expect(tree(finished()).slice(3)).toEqual(['breakerbox.skip a < invoke_agent traced', 'invoke_agent traced']);
    expect(finished().at(-1)?.attributes[ATTR.conversation]).toBe('run-1');
  });

  test('E7: it ends once, and later decisions stay in its trace', () => {
    const finished = registerTraces();
    const reported = watchDiag();
    const { box } = bench({ agent });
    const session = box.session({ span: true });
    session.end();
    succeedOnce(session, 'a');
    session.end();
    session.end();
    expect(tree(finished())).toEqual(['invoke_agent traced', 'execute_tool a < invoke_agent traced']);
    expect(reported).not.toHaveBeenCalled();
  });

  test('it ends when the session has idled, and only then', () => {
    const finished = registerTraces();
    const { box, clock } = bench({ agent, sessionIdleMs: 1_000 });
    const session = box.session({ span: true });
    box.session();
    expect(finished()).toEqual([]);
    clock.advance(1_000);
    for (let others = 0; others < 100 && finished().length === 0; others += 1) box.session().end();
    expect(tree(finished())).toEqual(['invoke_agent traced']);
    session.end();
    expect(finished()).toHaveLength(1);
  });

  test('there is no session span without an SDK, nor with an SDK that is registered later', () => {
    const { box } = bench({ agent });
    const session = box.session({ span: true });
    expect(session.context).toBe(context.active());
    const finished = registerTraces();
    expect(session.context).toBe(context.active());
    succeedOnce(session, 'a');
    session.end();
    expect(tree(finished())).toEqual(['execute_tool a']);
  });

  test('without span: true the context of a session is the active one', () => {
    registerTraces();
    const { session } = bench({ agent });
    const other: Context = context.active().setValue(Symbol('other'), 1);
    expect(context.with(other, () => session.context)).toBe(other);
  });

  test('E5: a tracer or a context manager that throws changes nothing', () => {
    const reported = watchDiag();
    const refuse = (): never => {
      throw new Error('refused');
    };
    const { box } = bench({ agent });
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: refuse, startActiveSpan: refuse }) as Tracer });
    const session = box.session({ span: true });
    expect(succeedOnce(session, 'a')).toBe('call');
    trace.disable();
    registerTraces();
    const spanned = box.session({ span: true });
    context.disable();
    const silent = { active: refuse, bind: refuse, enable: refuse, disable: () => silent, with: refuse };
    context.setGlobalContextManager(silent as unknown as ContextManager);
    expect(box.session({ span: true }).context).toBeDefined();
    expect(spanned.context).toBeDefined();
    expect(succeedOnce(spanned, 'a')).toBe('call');
    spanned.end();
    expect(reported).toHaveBeenCalled();
  });
});

test.each(['function', 'extension', 'datastore'] as const)('the span of a call says that its tool is: %s', (type) => {
  const finished = registerTraces();
  const { session } = bench({ agent });
  session.acquire('a', { type }).settle({ outcome: 'success' });
  expect(finished()[0]?.attributes[ATTR.toolType]).toBe(type);
});

test('an unknown type of tool is left out', () => {
  const finished = registerTraces();
  const { session } = bench({ agent });
  session.acquire('a', { type: 'hammer' as never }).settle({ outcome: 'success' });
  expect(finished()[0]?.attributes).not.toHaveProperty([ATTR.toolType]);
});

test('the spans of calls and of rejections have the attributes that the caller gives', () => {
  const finished = registerTraces();
  const { session } = bench({ agent, tools: { a: { failureThreshold: 1 } } });
  const attributes = { 'mcp.method.name': 'tools/call' };
  session.acquire('a', { attributes }).settle({ outcome: 'failure', category: 'network' });
  expect(session.acquire('a', { attributes }).decision).toBe('skip');
  expect(finished().map((span) => span.attributes['mcp.method.name'])).toEqual(['tools/call', 'tools/call']);
});

describe('D7: the spans of sub-agents', () => {
  /** `name < name of its parent`, with the attributes of the tree. */
  const byName = (spans: readonly ReadableSpan[]) => Object.fromEntries(spans.map((one) => [one.name, one.attributes]));

  test('D7: a sub-agent is beneath the tool call that it runs in, and its calls are beneath it', () => {
    const finished = registerTraces();
    const { box } = bench({ agent, limits: { calls: 50 } });
    const session = box.session({ id: 'run-2', span: true });
    const permit = session.acquire('a');
    context.with(permit.context, () => {
      const child = session.child({ id: 'c-1', name: 'researcher', call: permit });
      succeedOnce(child, 'b');
      const grandchild = child.child({ id: 'c-2', name: 'reader' });
      context.with(grandchild.context, () => within('chat gpt', () => succeedOnce(grandchild, 'c')));
      grandchild.end();
      child.end();
      succeedOnce(child, 'd'); // It goes on deciding, and stays where it was.
    });
    permit.settle({ outcome: 'success' });
    succeedOnce(session, 'e');
    session.end();
    expect(tree(finished()).toSorted()).toEqual([
      'chat gpt < invoke_agent reader',
      'execute_tool a < invoke_agent traced',
      'execute_tool b < invoke_agent researcher',
      'execute_tool c < chat gpt',
      'execute_tool d < invoke_agent researcher',
      'execute_tool e < invoke_agent traced',
      'invoke_agent reader < invoke_agent researcher',
      'invoke_agent researcher < execute_tool a',
      'invoke_agent traced',
    ]);
    expect(traces(finished()).size).toBe(1);
    const spans = byName(finished());
    expect(spans['invoke_agent reader']).toMatchObject({
      [ATTR.agent]: agent,
      [ATTR.conversation]: 'run-2',
      [ATTR.child]: 'c-2',
      [ATTR.parent]: 'c-1',
      [ATTR.calls]: 1,
    });
    expect(spans['invoke_agent researcher']).toMatchObject({
      [ATTR.parent]: 'run-2',
      [ATTR.calls]: 2,
      [ATTR.outcome]: 'success',
    });
    expect(spans['execute_tool c']).toMatchObject({ [ATTR.conversation]: 'run-2', [ATTR.parent]: 'c-1' });
    expect(spans['execute_tool e']).not.toHaveProperty([ATTR.parent]);
  });

  test('D7: a sub-agent that a limit pauses is an error, and one that never ends goes with its session', () => {
    const finished = registerTraces();
    const { box } = bench({ agent });
    const session = box.session({ id: 'run-2', span: true });
    const child = session.child({ id: 'c-1', portion: { calls: 1 } });
    child.acquire('a').settle({ outcome: 'success', tokens: 7, cost: 0.5 });
    child.end();
    session.child({ id: 'c-2' });
    session.end();
    const names = () => finished().map(({ name, status: { message } }) => [name, message]);
    const reached = 'The sub-agent ended while it was paused: a limit was reached.';
    expect(names()).toContainEqual(['invoke_agent c-1', reached]);
    expect(byName(finished())['invoke_agent c-1']).toMatchObject({
      [ATTR.tokens]: 7,
      [ATTR.cost]: 0.5,
      [ATTR.outcome]: 'failure',
    });
    expect(names()).not.toContainEqual(['invoke_agent traced', undefined]); // The tree lasts until its last session ends.
    for (const id of ['c-2']) session.child({ id }).end();
    expect(names()).toContainEqual(['invoke_agent traced', undefined]);
  });

  test('D7: without a span of the session, decisions of a sub-agent still name it', () => {
    const finished = registerTraces();
    const { session } = bench({ agent });
    const child = session.child({ id: 'c-1', name: 'researcher' });
    succeedOnce(child, 'a');
    child.end();
    expect(finished().map(({ name }) => name)).toEqual(['execute_tool a']);
    expect(finished()[0]?.attributes).toMatchObject({
      [ATTR.conversation]: session.id,
      [ATTR.child]: 'c-1',
      [ATTR.parent]: session.id,
    });
  });
});
