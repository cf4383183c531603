import { BreakerboxConfigError, BreakerboxUsageError, type Session } from '@breakerbox/core';
import { ToolMessage } from '@langchain/core/messages';
import { DynamicTool, tool } from '@langchain/core/tools';
import { Command } from '@langchain/langgraph';
import { diag } from '@opentelemetry/api';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { currentSession } from '../session.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { ask, broken, callOf, query, refused, runGraph, search } from '../test-support/langchain-agents.ts';
import { rejectionOf } from '../test-support/rejection.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardTool, guardTools, ToolUnavailableError } from './langchain.ts';

const open = { tools: { search: { failureThreshold: 1 } } };

describe('ToolNode', () => {
  test('handleToolErrors false: an error ends the run, a rejection does not', async () => {
    const { session, outcomes } = watchedSession(open);
    const tools = guardTools([broken()], session);
    const strict = { handleToolErrors: false };
    await expect(runGraph(tools, [[ask('x')], 'Done.'], strict)).rejects.toThrow('ECONNREFUSED');
    const { messages, text } = await runGraph(tools, [[ask('y')], 'Done.'], strict);
    expect(text).toBe('Done.');
    expect(messages).toEqual([
      {
        content: expect.stringMatching(/^Tool 'search' is unavailable: the last calls failed \(network\)/),
        status: 'error',
        name: 'search',
        id: 'call-1-1',
        artifact: undefined,
      },
    ]);
    expect(outcomes).toEqual(['search: failure, network']);
  });

  test('a rejection of a tool with artifacts, and of a call without an id, is a message too', async () => {
    const { session } = watchedSession(open);
    const pair = search(() => Promise.reject(refused), { responseFormat: 'content_and_artifact' });
    const [guarded] = guardTools([pair], session);
    await guarded?.invoke(callOf('x')).catch(() => {});
    const content = expect.stringContaining('is unavailable');
    expect(await guarded?.invoke(callOf('x'))).toMatchObject({ content, status: 'error', tool_call_id: 'call-1' });
    expect(await guarded?.invoke({ ...callOf('x'), id: undefined } as never)).toEqual(content);
  });

  test('callbacks get a rejection as the end of the tool, and an error as its error', async () => {
    const { session } = watchedSession(open);
    const heard: unknown[] = [];
    const callbacks = [
      {
        handleToolEnd: ({ status }: { status: string }) => void heard.push(status),
        handleToolError: (error: unknown) => void heard.push(error),
      },
    ];
    const guarded = guardTool(broken(), session);
    await guarded.invoke(callOf('x'), { callbacks }).catch(() => {});
    await guarded.invoke(callOf('y'), { callbacks });
    expect(heard).toEqual([expect.objectContaining({ cause: refused, code: 'ECONNREFUSED' }), 'error']);
  });

  test('handleToolErrors true: errors are the messages that ToolNode makes', async () => {
    const script = [[ask('x')], 'Done.'];
    const { messages } = await runGraph(guardTools([broken()], watchedSession().session), script);
    expect(messages).toEqual((await runGraph([broken()], script)).messages);
  });
});

describe('results are not changed', () => {
  test('artifacts', async () => {
    const { session } = watchedSession();
    const answer = search(async () => ['found', { rows: 2 }], { responseFormat: 'content_and_artifact' });
    const { messages } = await runGraph(guardTools([answer], session), [[ask('x')], 'Done.']);
    expect(messages).toMatchObject([{ content: 'found', artifact: { rows: 2 }, status: 'success' }]);
  });

  test('a ToolMessage and a Command are the same objects', async () => {
    const { session, outcomes } = watchedSession();
    const message = new ToolMessage({ content: 'found', tool_call_id: 'call-1' });
    const command = new Command({ update: { seen: true } });
    const answers: unknown[] = [message, command];
    const guarded = guardTool(
      search(async () => answers.shift()),
      session,
    );
    expect(await guarded.invoke(callOf('a'))).toBe(message);
    expect(await guarded.invoke(callOf('b'))).toBe(command);
    expect(outcomes).toEqual(Array(2).fill('search: success'));
  });

  test('O9: the content of a ToolMessage without status is judged like a string, alone in a Command too', async () => {
    const { session, outcomes } = watchedSession();
    const message = (content: ToolMessage['content']) => new ToolMessage({ content, tool_call_id: 'call-1' });
    const line = 'Request failed with status code 503';
    const answers: unknown[] = [
      message(line),
      message([{ type: 'text', text: 'fetch failed' }]),
      message('The invoice is sent'),
      new Command({ update: { messages: [message(line)] } }),
      new Command({ update: { messages: [message(line), message('noted')] } }),
    ];
    const send = new DynamicTool({
      name: 'send_invoice',
      description: 'Sends',
      func: async () => answers.shift() as string,
    });
    const guarded = guardTool(send, session);
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await guarded.invoke({ type: 'tool_call', id: 'call-1', name: 'send_invoice', args: { input: id } });
    expect(outcomes.map((outcome) => outcome.replace('send_invoice: ', ''))).toEqual([
      ...['failure, server', 'failure, network', 'success', 'failure, server', 'success'],
    ]);
  });

  test('O2: a ToolMessage with status error, in a Command too, and the content beside an artifact, are judged', async () => {
    const { session, outcomes } = watchedSession();
    const error = (content: string) => new ToolMessage({ content, tool_call_id: 'call-1', status: 'error' });
    const answers: unknown[] = [error('HTTP 503 Service Unavailable'), error('unknown order id')];
    const guarded = guardTool(
      search(async () => answers.shift()),
      session,
    );
    await guarded.invoke(callOf('a'));
    await guarded.invoke(callOf('b'));
    const update = { messages: [new ToolMessage('noted', 'call-1'), error('HTTP 503 Service Unavailable')] };
    answers.push(new Command({ update }), new Command({ update: { messages: error('HTTP 429') } }));
    await guarded.invoke(callOf('d'));
    await guarded.invoke(callOf('e'));
    const pair = search(async () => [{ error: 'HTTP 429' }, undefined], {
      name: 'pair',
      responseFormat: 'content_and_artifact',
    });
    await guardTool(pair, session).invoke(callOf('c', 'pair'));
    expect(outcomes).toEqual([
      'search: failure, server',
      'search: ignored, tool_error',
      'search: failure, server',
      'search: failure, rate_limit',
      'pair: failure, rate_limit',
    ]);
  });

  test('the pieces of a generator reach the callbacks, and its return value is the result', async () => {
    const { session, outcomes } = watchedSession();
    const pieces = tool(
      async function* () {
        yield 'one';
        yield 'two';
        return 'found';
      },
      { name: 'search', description: '', schema: query },
    );
    const told: unknown[] = [];
    const callbacks = [{ handleToolEvent: (piece: unknown) => void told.push(piece) }];
    const given = await guardTool(pieces, session).invoke(callOf('x'), { callbacks } as object);
    expect(given).toMatchObject({ content: 'found' });
    expect(told).toEqual(['one', 'two']);
    expect(outcomes).toEqual(['search: success']);
  });

  test('a generator that hangs fails by the timeout, and is abandoned', async () => {
    const { session, outcomes } = watchedSession();
    const left = vi.fn();
    const hanging = search(async function* (_, { signal }) {
      try {
        yield 'one';
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      } finally {
        left();
      }
    });
    await expect(guardTool(hanging, session, { timeoutMs: 20 }).invoke(callOf('x'))).rejects.toThrow('20 ms');
    expect(outcomes).toEqual(['search: failure, timeout']);
    await vi.waitFor(() => expect(left).toHaveBeenCalledOnce());
  });
});

describe('arguments', () => {
  test('a caller without a model gets a rejection as an error', async () => {
    const { session } = watchedSession(open);
    const guarded = guardTool(broken(), session);
    await expect(guarded.invoke({ q: 'x' })).rejects.toMatchObject({ cause: refused });
    expect((await rejectionOf(guarded.invoke({ q: 'y' }))).tool).toBe('search');
    await expect(guarded.call({ q: 'y' })).rejects.toBeInstanceOf(ToolUnavailableError);
  });

  test('O4: tokens are read from the return value and from the error', async () => {
    const { session, box } = watchedSession();
    const ends: unknown[] = [];
    const wasted: number[] = [];
    box.on('outcome', ({ tokens = 0 }) => wasted.push(tokens));
    const answers = [
      { error: 'HTTP 503' },
      new ToolMessage({ content: 'HTTP 503', tool_call_id: 'x', status: 'error' }),
    ];
    const tokens = (end: unknown) => ends.push(end);
    const guarded = guardTool(
      search(async () => answers.shift() ?? Promise.reject(refused)),
      session,
      { tokens },
    );
    await guarded.invoke(callOf('a'));
    await guarded.invoke(callOf('b'));
    await guarded.invoke(callOf('c')).catch(() => {});
    expect(ends).toMatchObject([
      { result: { error: 'HTTP 503' } },
      { result: { status: 'error' } },
      { error: refused },
    ]);
    expect(wasted).toEqual([1, 2, 3]);
  });

  test('E5: if the session function finds none, the model reads why, and diag gets a report', async () => {
    const diagnosed = listenToDiag();
    const { heard } = await runGraph(guardTools([broken()], currentSession), [[ask('x')], 'Done.']);
    expect(heard).toEqual([expect.stringContaining('withSession')]);
    expect(diagnosed).toEqual([[expect.stringContaining('guardTools(): no session was found'), expect.anything()]]);
    diag.disable();
  });

  test('E6: invalid arguments are rejected', () => {
    const { session } = watchedSession();
    expect(() => guardTools([], session, { timeout: 5 } as object)).toThrow(BreakerboxConfigError);
    expect(() => guardTools({} as never, session)).toThrow(/an array of tools/);
    expect(() => guardTools([undefined as never], session)).toThrow(/undefined instead of a tool/);
    expect(() => guardTool('search' as never, session)).toThrow(BreakerboxUsageError);
    expect(() => guardTools([], {} as Session)).toThrow(BreakerboxUsageError);
  });

  test('types are kept', () => {
    const { session } = watchedSession();
    const [one, other] = [broken(), new DynamicTool({ name: 'x', description: '', func: async () => '' })];
    expectTypeOf(guardTool(one, session)).toEqualTypeOf(one);
    const both: [typeof one, typeof other] = [one, other];
    expectTypeOf(guardTools(both, session)).toEqualTypeOf(both);
    expectTypeOf(guardTools([one, other], session)).toEqualTypeOf<(typeof one | typeof other)[]>();
  });
});

test('if LangChain cannot be loaded at run time, the rejection is text, which ToolNode turns into a message', async () => {
  vi.resetModules();
  vi.doMock('@langchain/core/messages', () => {
    throw new Error('Cannot find package');
  });
  const { guardTool } = await import('./langchain.ts');
  const { session } = watchedSession(open);
  const guarded = guardTool(broken(), session);
  await guarded.invoke(callOf('x')).catch(() => {});
  expect(await guarded.invoke(callOf('y'))).toMatchObject({ content: expect.stringContaining('is unavailable') });
  vi.doUnmock('@langchain/core/messages');
});
