import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { READERS, readerOf } from './readers.ts';
import type { RecordedEvent, RecordedModelCall } from './recording.ts';
import { linesOf, recordingFile } from './recording-file.ts';

const RECORDINGS = fileURLToPath(new URL('../../recordings/', import.meta.url));

/** The events of a file, and what its reader said about it. */
const read = async (path: string, format?: string, keys = new Set<string>()) => {
  const reader = await readerOf(path, format);
  const events: RecordedEvent[] = [];
  const skipped: string[] = [];
  const versions = new Set<string>();
  const incomplete: string[] = [];
  const modelCalls: RecordedModelCall[] = [];
  const notes = {
    skipped: (what: string) => void skipped.push(what),
    assumed: (what: string) => void skipped.push(what),
    version: (version: string) => void versions.add(version),
    incomplete: (evidence: string) => void incomplete.push(evidence),
    modelCall: (call: RecordedModelCall) => void modelCalls.push(call),
    isFirst: (key: string) => keys.size < keys.add(key).size,
  };
  for await (const batch of reader?.read(recordingFile(path), notes) ?? []) events.push(...batch);
  return { format: reader?.name, events, skipped, versions: [...versions], incomplete, modelCalls };
};

/** The same for a text. */
const readText = async (name: string, text: string, keys?: Set<string>) => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-replay-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, name), text);
  return read(join(folder, name), undefined, keys);
};

const json = (...rows: readonly unknown[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

/** One line each: what happens, without times. */
const story = (events: readonly RecordedEvent[]): readonly string[] =>
  events.flatMap((event) => {
    if (event.kind === 'spend') return [];
    if (event.kind === 'start') return `start ${event.tool}`;
    return event.kind === 'end' ? `end ${'outcome' in event.ending ? event.ending.outcome : 'to judge'}` : 'step';
  });

describe('T2: a session file of Claude Code', () => {
  test('T2: its calls, results and steps are read, and its version is known', async () => {
    const { format, events, versions } = await read(join(RECORDINGS, 'claude-code-2.1.329.jsonl'));
    expect({ format, versions }).toEqual({ format: 'claude-code', versions: ['2.1.329'] });
    expect(story(events)).toEqual([
      'start mcp__crm__find_customer',
      'start mcp__crm__web_search',
      'end to judge',
      'end success',
      ...['step', 'start mcp__crm__find_customer', 'end to judge'],
      ...['step', 'start mcp__crm__find_customer', 'end to judge'],
      ...['step', 'start mcp__crm__find_customer', 'end to judge'],
      ...['step', 'start mcp__crm__web_search', 'end success'],
    ]);
    const first = events.find(({ kind }) => kind === 'start');
    expect(first).toMatchObject({ group: 'crm', session: 'bd32a69f-228f-4868-9cc0-9b285b94137e' });
  });

  test('T2: a denied call is ignored, a subagent is a session of its own, and a repeated entry counts once', async () => {
    const at = '2026-11-23T05:41:12.000Z';
    const entry = { sessionId: 's', timestamp: at, parentUuid: null };
    const call = { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'ls' } };
    const asked = { ...entry, type: 'assistant', message: { id: 'm1', content: [call] } };
    const told = { type: 'tool_result', tool_use_id: 'c1', is_error: true, content: 'no' };
    const denied = { ...entry, type: 'user', permissionDecision: { decision: 'reject' }, message: { content: [told] } };
    const sub = { ...asked, agentId: 'a7', message: { id: 'm2', content: [{ ...call, id: 'c2' }] } };
    const { events } = await readText('s.jsonl', json(asked, asked, denied, sub));
    expect(story(events)).toEqual(['start Bash', 'end ignored', 'start Bash']);
    expect(events[2]?.session).toBe('s/a7');
  });

  test('T2: a session that was continued in another file counts once, and an old subagent has no name', async () => {
    const entry = { parentUuid: null, isSidechain: false, type: 'assistant', timestamp: '2025-01-01T00:00:00Z' };
    const call = { type: 'tool_use', id: 'toolu_01', name: 'Bash', input: {} };
    const first = { ...entry, sessionId: 's', message: { id: 'm1', content: [call] } };
    const keys = new Set<string>();
    const sidechain = { ...first, isSidechain: true, message: { id: 'm2', content: [{ ...call, id: 'toolu_02' }] } };
    const { events } = await readText('one.jsonl', json(first, sidechain), keys);
    expect(events.map(({ session }) => session)).toEqual(['s', 's/sidechain']);
    const next = { ...first, message: { id: 'm3', content: [{ ...call, id: 'toolu_03' }] } };
    const continued = [first, next].map((one) => ({ ...one, sessionId: 't' }));
    expect(story((await readText('two.jsonl', json(...continued), keys)).events)).toEqual(['start Bash']);
  });

  test("T2: a call that Claude Code rejected is the model's mistake, whatever the text quotes", async () => {
    const entry = { parentUuid: null, type: 'user', sessionId: 's', timestamp: '2025-01-01T00:00:00Z' };
    const text =
      '<tool_use_error>String to replace not found in file.\nString: TIMEOUT: request timed out</tool_use_error>';
    const told = [text, [{ type: 'text', text }]].map((content) => ({
      ...entry,
      message: { content: [{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content }] },
    }));
    for (const one of told) {
      const { events } = await readText('s.jsonl', json(one));
      expect(events).toMatchObject([{ ending: { outcome: 'ignored', category: 'invalid_input' } }]);
    }
  });

  test('T10: the tokens of a message count once, with those of its prompt cache', async () => {
    const { events } = await read(join(RECORDINGS, 'claude-code-2.1.329.jsonl'));
    expect(events.filter(({ kind }) => kind === 'spend')).toHaveLength(5);
    const usage = {
      input_tokens: 3,
      output_tokens: 20,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 50,
    };
    const entry = (id: string) => ({
      ...{ type: 'assistant', sessionId: 's', timestamp: '2026-11-23T05:41:12.000Z', parentUuid: null },
      message: { id: 'm1', usage, content: [{ type: 'tool_use', id, name: 'Bash', input: {} }] },
    });
    const two = await readText('s.jsonl', json(entry('c1'), entry('c2')));
    expect(two.events).toMatchObject([{ kind: 'spend', tokens: 1073 }, { kind: 'start' }, { kind: 'start' }]);
  });

  test('T2: a file is recognized when its first entry is longer than what is looked at', async () => {
    const text = 'x'.repeat(100_000);
    const entry = { parentUuid: null, isSidechain: false, type: 'user', message: { content: text }, sessionId: 's' };
    expect((await readText('s.jsonl', json(entry))).format).toBe('claude-code');
  });
});

describe('T2: OTLP JSON', () => {
  const at = (ms: number): string => `${1_700_000_000_000_000_000n + BigInt(Math.round(ms * 1e6))}`;
  const value = (one: unknown) => (typeof one === 'number' ? { intValue: `${one}` } : { stringValue: one });
  const span = (spanId: string, from: number, to: number, attributes: object, more: object = {}) => ({
    traceId: 't1',
    spanId,
    name: 'span',
    startTimeUnixNano: at(from),
    endTimeUnixNano: at(to),
    attributes: Object.entries(attributes).map(([key, one]) => ({ key, value: value(one) })),
    ...more,
  });
  const message = (...spans: readonly object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

  test('T2, T8: our own spans have decision, step and outcome', async () => {
    const { format, events } = await read(join(RECORDINGS, 'breakerbox-spans.otlp.jsonl'));
    expect(format).toBe('otlp');
    const failures = events.filter(
      (event) => event.kind === 'end' && 'outcome' in event.ending && event.ending.outcome === 'failure',
    );
    expect(failures).toHaveLength(3);
    expect(events.filter(({ kind }) => kind === 'step').length).toBeGreaterThan(10);
    const skips = events.filter((event) => event.kind === 'start' && event.decided?.decision === 'skip');
    expect(skips).toHaveLength(3);
  });

  test('T2: spans of the GenAI conventions are put in order; model calls are steps', async () => {
    const call = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const { events } = await readText(
      'traces.json',
      json(
        message(
          span('b', 200, 900, { ...call, 'error.type': 'TimeoutError' }),
          span('a', 0, 100, { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'c-1' }),
          span('c', 300, 400, call, { status: { code: 2, message: 'HTTP 503' } }),
        ),
        message(span('d', 1000, 1100, { 'gen_ai.operation.name': 'chat' })),
      ),
    );
    expect(story(events)).toEqual(['start search', 'start search', 'end to judge', 'end to judge', 'step']);
    expect(new Set(events.map(({ session }) => session))).toEqual(new Set(['c-1']));
  });

  test('T10: tokens of models are read once, from the innermost span that has them, and not again from a tool above it', async () => {
    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'c' };
    const tool = { 'gen_ai.conversation.id': 'c', 'gen_ai.tool.name': 'ask', 'breakerbox.step': 0 };
    const call = { ...tool, 'breakerbox.decision': 'call', 'breakerbox.reason': 'closed', 'breakerbox.tokens': 40 };
    const used = { 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 7 };
    const { events } = await readText(
      'traces.json',
      json(
        message(
          span('guard', 0, 100, { ...chat, ...used }),
          span('client', 10, 90, { ...chat, ...used }, { parentSpanId: 'guard' }),
          span('http', 20, 80, chat, { parentSpanId: 'client' }),
          span('agent as tool', 200, 400, call),
          span('its model', 210, 300, { ...chat, 'llm.token_count.prompt': 30 }, { parentSpanId: 'agent as tool' }),
          span('tool', 500, 600, call),
        ),
      ),
    );
    const told = events.map((event) => (event.kind === 'spend' || event.kind === 'end' ? event.tokens : event.kind));
    expect(told).toEqual([107, 'start', 30, undefined, 'start', 40]);
  });

  test('T2: model calls above each other, such as those of a framework and of its client, are one step', async () => {
    const chat = { 'gen_ai.operation.name': 'chat' };
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const { events } = await readText(
      'traces.json',
      json(
        message(
          span('a', 0, 90, chat),
          span('b', 10, 80, chat, { parentSpanId: 'a' }),
          span('c', 100, 110, tool),
          span('d', 200, 290, chat),
          span('e', 210, 280, chat, { parentSpanId: 'd' }),
          span('f', 300, 310, tool),
        ),
      ),
    );
    expect(story(events)).toEqual(['start search', 'end to judge', 'step', 'start search', 'end to judge']);
  });

  test('T2: a call that the SDK begins in the millisecond in which the one before ends is after it', async () => {
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const { events } = await readText('a.json', json(message(span('a', 0, 10.8, tool), span('b', 10, 20, tool))));
    expect(story(events)).toEqual(['start search', 'end to judge', 'start search', 'end to judge']);
  });

  test('T8: a call that was run beside a failure of its turn began before it ended, if the millisecond is the same', async () => {
    const ours = (tool: string, step: number, decision: string, more: object = {}) => ({
      'gen_ai.tool.name': tool,
      'gen_ai.conversation.id': 's',
      'breakerbox.step': step,
      'breakerbox.decision': decision,
      'breakerbox.reason': decision === 'skip' ? 'open' : 'closed',
      ...more,
    });
    const failure = { 'breakerbox.outcome': 'failure', 'error.type': 'network' };
    const failed = (step: number) => span('b', 0, 10.8, ours('weather', step, 'call', failure));
    const skipped = (id: string) => span(id, 10, 10.02, ours('search', 1, 'skip'));
    const ran = span('d', 10, 20, ours('news', 1, 'call'));
    const storyOf = async (...spans: ReturnType<typeof span>[]) =>
      story((await readText('a.json', json(message(...spans)))).events).filter((one) => one !== 'step');

    expect(await storyOf(skipped('a'), failed(1), ran)).toEqual([
      'start weather',
      'start search',
      'start news',
      'end failure',
      'end to judge',
    ]);
    const after = ['start weather', 'end failure', 'start search'];
    expect(await storyOf(failed(1), skipped('a'))).toEqual(after);
    // The next turn begins when the last is over.
    expect(await storyOf(skipped('a'), failed(0))).toEqual(after);
  });

  test('T2: a file whose first line has no spans, such as logs, is recognized', async () => {
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const { events, skipped } = await readText('a.json', json({ resourceLogs: [] }, message(span('a', 0, 1, tool))));
    expect(story(events)).toEqual(['start search', 'end to judge']);
    expect(skipped).toEqual(['lines without spans']);
  });

  test('T2: spans of OpenInference and of the AI SDK are read', async () => {
    const { events } = await readText(
      'traces.json',
      json(
        message(
          span('a', 0, 10, {
            'openinference.span.kind': 'TOOL',
            'tool.name': 'search',
            'session.id': 's',
            'output.value': '{"isError":true}',
          }),
          span('b', 20, 30, { 'ai.toolCall.name': 'mail' }, { name: 'ai.toolCall' }),
        ),
      ),
    );
    expect(story(events)).toEqual(['start search', 'end to judge', 'start mail', 'end to judge']);
    expect(events[1]).toMatchObject({ session: 's', ending: { result: { isError: true } } });
  });

  test('T2: a session that only the span of the agent names, and a failed message of LangChain as a good result', async () => {
    const failed = { output: { type: 'tool', content: 'connect ECONNREFUSED', status: 'error', tool_call_id: 'c1' } };
    const tool = { 'openinference.span.kind': 'TOOL', 'tool.name': 'search', 'output.value': JSON.stringify(failed) };
    const agent = { 'openinference.span.kind': 'AGENT', 'session.id': 'conversation' };
    const { events } = await readText('a.json', json(message(span('b', 1, 2, tool), span('a', 0, 9, agent))));
    expect(events[1]).toMatchObject({
      session: 'conversation',
      ending: { result: { isError: true, content: [{ text: 'connect ECONNREFUSED' }] } },
    });
  });

  test('T2: a message over several lines is read, and a span around ours is the same call', async () => {
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const ours = {
      ...tool,
      'breakerbox.decision': 'call',
      'breakerbox.reason': 'closed',
      'breakerbox.outcome': 'success',
    };
    const both = message(span('a', 0, 20, tool), span('b', 1, 19, ours, { parentSpanId: 'a' }));
    const { events } = await readText('trace.json', JSON.stringify(both, null, 2));
    expect(story(events)).toEqual(['start search', 'end success']);
  });

  test('T8: the spans that end a pause are events in the order of time', async () => {
    const ours = { 'gen_ai.conversation.id': 'c', 'gen_ai.tool.name': 'search' };
    const call = { ...ours, 'breakerbox.decision': 'call', 'breakerbox.reason': 'closed', 'breakerbox.step': 0 };
    const text = message(
      span('b', 30, 40, { ...call, 'breakerbox.outcome': 'success' }),
      span('a', 0, 10, { ...call, 'breakerbox.outcome': 'failure' }),
      span('r', 20, 20, { 'gen_ai.conversation.id': 'c', 'breakerbox.action': 'confirm' }),
    );
    const { events, incomplete } = await readText('a.json', json(text));
    expect(events.map(({ kind, session }) => [kind, session])).toEqual(
      ['start', 'end', 'confirm', 'start', 'end'].map((kind) => [kind, 'c']),
    );
    expect(incomplete).toEqual([]);
  });

  test('T4: sampled spans are noticed', async () => {
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const sampled = await readText('a.json', json(message(span('a', 0, 1, tool, { traceState: 'ot=th:c' }))));
    expect(sampled.incomplete).toEqual(['its spans are sampled']);
    const all = await readText('b.json', json(message(span('a', 0, 1, tool, { traceState: 'ot=th:0' }))));
    expect(all.incomplete).toEqual([]);
  });

  test('T4: missing parents are noticed', async () => {
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const chat = span('m', 0, 9, { 'gen_ai.operation.name': 'chat' });
    const orphan = span('b', 2, 3, tool, { parentSpanId: 'gone' });
    const { incomplete } = await readText(
      'a.json',
      json(message(chat, span('a', 1, 2, tool, { parentSpanId: 'm' }), orphan)),
    );
    expect(incomplete).toEqual(['1 of 2 tool spans have no parent in the recording']);
  });

  test('T4: missing parents are noticed if all are missing, but not if only the span at the top is', async () => {
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const chat = (parentSpanId: string) => span('m', 0, 9, { 'gen_ai.operation.name': 'chat' }, { parentSpanId });
    const calls = (...parents: readonly string[]) =>
      parents.map((parentSpanId, index) => span(`call ${index}`, index, index + 1, tool, { parentSpanId }));
    const dropped = await readText('a.json', json(message(chat('e1'), ...calls('e1', 'e2', 'e3'))));
    expect(dropped.incomplete).toEqual(['3 of 3 tool spans have no parent in the recording']);
    const running = await readText('b.json', json(message(chat('agent'), ...calls('agent', 'agent'))));
    expect(running.incomplete).toEqual([]);
  });

  test('T4: a parent of another kind, such as the span of the agent, is not missing', async () => {
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const agent = span('agent', 0, 90, { 'gen_ai.operation.name': 'invoke_agent' });
    const chat = span('m', 0, 9, { 'gen_ai.operation.name': 'chat' }, { parentSpanId: 'agent' });
    const calls = [span('a', 10, 20, tool, { parentSpanId: 'm' }), span('b', 30, 40, tool, { parentSpanId: 'agent' })];
    expect((await readText('a.json', json(message(agent, chat, ...calls)))).incomplete).toEqual([]);
  });

  test('T2: the spans of a framework, an MCP client and its server are one call, and the error may be known only below', async () => {
    const call = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const mcp = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'search', 'error.type': 'tool_error' };
    const { events } = await readText(
      'a.json',
      json(
        message(
          span('server', 3, 7, mcp, { parentSpanId: 'feed' }),
          span('feed', 2, 8, {}, { parentSpanId: 'client' }),
          span('client', 1, 9, mcp, { parentSpanId: 'call' }),
          span('call', 0, 10, call),
          span('all', 0, 10, { ...call, 'gen_ai.tool.name': '(merged tools)' }),
        ),
      ),
    );
    expect(story(events)).toEqual(['start search', 'end ignored']);
    expect(events[1]).toMatchObject({
      ending: { outcome: 'ignored', category: 'tool_error' },
    });
    expect(events[1]?.atMs).toBe(1_700_000_000_010);
  });

  test('T2: structured attributes are read, and a span at an impossible time is left out', async () => {
    const tool = { key: 'gen_ai.operation.name', value: { stringValue: 'execute_tool' } };
    const failed = { key: 'isError', value: { boolValue: true } };
    const result = { key: 'gen_ai.tool.call.result', value: { kvlistValue: { values: [failed] } } };
    const late = span('z', 0, 0, {}, { attributes: [tool], startTimeUnixNano: '9'.repeat(30) });
    const { events } = await readText(
      'a.json',
      json(message(span('a', 0, 1, {}, { attributes: [tool, result] }), late)),
    );
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({ ending: { result: { isError: true } } });
  });
});

describe('T2: result files of tau-bench', () => {
  const call = { id: 'c1', function: { name: 'get_order', arguments: '{"id":1}' } };

  test('T2: tau-bench has no times, so they are assumed', async () => {
    const traj = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'Error: order not found' },
      { role: 'assistant', content: 'Sorry.' },
    ];
    const { format, events, skipped } = await readText(
      'run.json',
      JSON.stringify([{ task_id: 3, reward: 0, traj, trial: 1 }]),
    );
    expect(format).toBe('tau-bench');
    expect(story(events)).toEqual(['start get_order', 'end to judge', 'step']);
    expect(events[0]).toMatchObject({ session: expect.stringMatching(/^task 3, trial 1, /), input: { id: 1 } });
    expect(skipped).toEqual(['runs without times: 5 s between messages are assumed']);
  });

  test('T2: the same task and trial in two files are two sessions', async () => {
    const run = { task_id: 0, reward: 0, traj: [{ role: 'assistant', tool_calls: [call] }] };
    const [one, other] = await Promise.all(['a.json', 'b.json'].map((name) => readText(name, JSON.stringify([run]))));
    expect(one?.events[0]?.session).not.toBe(other?.events[0]?.session);
  });

  test('T2: tau2-bench has times and marks errors; tools of the simulated user are left out', async () => {
    const messages = [
      {
        role: 'assistant',
        timestamp: '2026-01-01T00:00:00Z',
        tool_calls: [{ id: 'c1', name: 'get_order', arguments: {}, requestor: 'assistant' }],
      },
      { role: 'tool', id: 'c1', error: true, content: 'down', timestamp: '2026-01-01T00:00:02Z' },
      {
        role: 'user',
        timestamp: '2026-01-01T00:00:03Z',
        tool_calls: [{ id: 'u1', name: 'toggle_wifi', arguments: {}, requestor: 'user' }],
      },
    ];
    const { events } = await readText(
      'r.json',
      JSON.stringify({ timestamp: '', info: {}, simulations: [{ id: 'x', task_id: '1', messages }] }),
    );
    expect(story(events)).toEqual(['start get_order', 'end to judge']);
    expect(events[1]?.atMs).toBe(Date.parse('2026-01-01T00:00:02Z'));
  });

  test('T2: tau2-bench: the texts of all tasks may come before the runs; results of the simulated user are left out', async () => {
    const time = { timestamp: '2026-01-01T00:00:00Z' };
    const messages = [
      { role: 'tool', id: 'u1', requestor: 'user', content: 'on', ...time },
      { role: 'assistant', tool_calls: [{ id: 'c1', name: 'get_order', arguments: {} }], ...time },
      { role: 'tool', id: 'c1', requestor: 'assistant', content: '{}', ...time },
    ];
    const info = { git_commit: 'a', num_trials: 1 };
    const tasks = [{ id: '0', purpose: 'x'.repeat(100_000) }];
    const text = JSON.stringify({ ...time, info, tasks, simulations: [{ id: 'x', task_id: '0', messages }] }, null, 2);
    expect(story((await readText('r.json', text)).events)).toEqual(['start get_order', 'end success']);
    await expect(readText('cut.json', text.slice(0, -99))).rejects.toThrow('it is not JSON. Its end may be missing.');
  });
});

describe('T2: the documented rows', () => {
  const rows = [
    { session: 's', at: '2026-01-01T00:00:00Z', tool: 'a', durationMs: 500, error: 'connect ECONNREFUSED 10.0.0.1:1' },
    { session: 's', at: 1_767_225_600_100, tool: 'b', outcome: 'success', tokens: 3 },
    { session: 's', at: 1_767_225_601_000, kind: 'step' },
  ];

  test('T2: JSONL: a call may be one row, and calls may overlap', async () => {
    const { format, events } = await readText('calls.jsonl', json(...rows));
    expect(format).toBe('jsonl');
    expect(story(events)).toEqual(['start a', 'start b', 'end success', 'end to judge', 'step']);
  });

  test('T2: JSONL: a row that makes no sense is left out and counted', async () => {
    const { events, skipped } = await readText(
      'calls.jsonl',
      `${json(rows[0], { session: 's', at: 'soon' }, { session: 's', at: 1, tool: 'a', kind: 'x' })}\nnot JSON\n`,
    );
    expect(events).toHaveLength(2);
    expect(skipped).toEqual([
      'rows whose at is neither an ISO date nor Unix milliseconds',
      'rows of another kind than call, start, end or step',
      'lines that are not a JSON object',
    ]);
  });

  test('T2: JSONL: fields that are not read are named, a few of them', async () => {
    const row = { session: 's', at: 1_700_000_000_000, tool: 'a', outcome: 'success', latency_ms: 3, 'a b': 1 };
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, n]));
    const { events, skipped } = await readText('calls.jsonl', json(row, { ...row, ...many }));
    expect(events).toHaveLength(4);
    expect(new Set(skipped).size).toBe(21);
    expect(skipped).toEqual(
      expect.arrayContaining([
        'field latency_ms, which is not read',
        'field f18, which is not read',
        'other fields that are not read',
      ]),
    );
  });

  test('T2: a required field with another name: the report names what is missing and what was not read', async () => {
    const named = ['rows without at', 'field time, which is not read'];
    const lines = await readText('calls.jsonl', json({ session: 's', time: '2026-01-01T00:00:00Z', tool: 'a' }));
    const cells = await readText('calls.csv', 'session,time,tool\ns,2026-01-01T00:00:00Z,a\n');
    for (const { events, skipped } of [lines, cells])
      expect({ events, skipped: skipped.toSorted() }).toEqual({ events: [], skipped: named.toSorted() });
  });

  test('T2: CSV has the same fields, and cells may have commas and line ends', async () => {
    const text =
      'session,at,tool,durationMs,error\ns,2026-01-01T00:00:00Z,a,5,"timed out,\nafter 5 s"\ns,2026-01-01T00:00:01Z,b,,\n';
    const { format, events } = await readText('calls.csv', text);
    expect(format).toBe('csv');
    expect(story(events)).toEqual(['start a', 'end to judge', 'start b', 'end to judge']);
    expect(events[1]).toMatchObject({ ending: { error: 'timed out,\nafter 5 s' } });
  });

  test('T2: CSV: a row with stray quotes is read, and one that cannot be is counted', async () => {
    const good = 's,2026-01-01T00:00:00Z,a,said "no"';
    const { events, skipped } = await readText('calls.csv', `session,at,tool,error\n${good}\n${good}\ns,2,a,"cut off`);
    expect(story(events)).toEqual(['start a', 'end to judge', 'start a', 'end to judge']);
    expect(skipped).toEqual(['rows that are not CSV']);
  });

  test('T2: a wrong outcome, a time in seconds or microseconds, and an unknown category are named; a category decides', async () => {
    const row = { session: 's', at: '2026-01-01T00:00:00Z', tool: 'a' };
    const { events, skipped } = await readText(
      'calls.jsonl',
      json(
        ...[{ outcome: 'failed' }, { at: 1_767_225_600 }, { at: 1_767_225_600_000_000 }].map((one) => ({
          ...row,
          ...one,
        })),
        ...[{ outcome: 'failure', category: 'odd' }, { category: 'timeout' }].map((one) => ({ ...row, ...one })),
      ),
    );
    expect(skipped).toEqual([
      'rows whose outcome is not success, failure or ignored',
      'rows whose at is in seconds; give milliseconds',
      'rows whose at is neither an ISO date nor Unix milliseconds',
      'categories that Breakerbox does not have',
    ]);
    expect(story(events)).toEqual(['start a', 'end failure', 'start a', 'end failure']);
  });

  test('T2: JSONL: an empty or broken first line does not hide the format', async () => {
    const { format, events } = await readText('calls.jsonl', `\nn":1}\n${json(rows[1])}`);
    expect({ format, story: story(events) }).toEqual({ format: 'jsonl', story: ['start b', 'end success'] });
  });
});

test('T7: a line of 64 MiB that comes in chunks is joined once, and what is longer is cut off', async () => {
  const chunk = 'x'.repeat(65_536);
  const chunks = async function* () {
    for (let index = 0; index < 1500; index += 1) yield chunk;
    yield '\nnext';
  };
  const lengths: number[] = [];
  for await (const lines of linesOf(chunks())) lengths.push(...lines.map(({ length }) => length));
  expect(lengths).toEqual([64 * 1_048_576, 4]);
});

test('T2: every format has a reader with a name of its own, and a file of another kind has none', async () => {
  expect(new Set(READERS.map(({ name }) => name)).size).toBe(READERS.length);
  expect((await readText('notes.json', '{"hello": "world"}')).format).toBeUndefined();
});

describe('calls of models in OTLP', () => {
  const attributesOf = (given: Readonly<Record<string, string>>) =>
    Object.entries(given).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const spanOf = (spanId: string, given: Readonly<Record<string, string>>, more: object = {}) => ({
    ...{ traceId: 'a'.repeat(32), spanId, name: 'chat m', startTimeUnixNano: '1767225600000000000' },
    ...{ endTimeUnixNano: '1767225601000000000', attributes: attributesOf(given), ...more },
  });
  const callsOf = async (...spans: readonly object[]) =>
    (await readText('t.json', JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))).modelCalls;
  const GENAI = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt-5' };
  const failed = (message: string) => ({ status: { code: 2, message } });

  test.each([
    ['529', {}, 'server', undefined],
    ['_OTHER', failed('429 You exceeded your current quota'), 'rate_limit', undefined],
    ['APICallError', failed('401 Incorrect API key provided'), 'permission', 'group'],
    ['ETIMEDOUT', failed('connect ETIMEDOUT 10.0.0.1:443'), 'timeout', undefined],
    ['AbortError', failed('This operation was aborted'), 'cancelled', undefined],
    ['server', {}, 'server', undefined], // Of a guard
  ])('T9: an error %s is judged as the guard would', async (type, more, category, blames) => {
    const [call] = await callsOf(spanOf('1'.repeat(16), { ...GENAI, 'error.type': type }, more));
    expect(call).toMatchObject({ name: 'openai/gpt-5', group: 'openai', category, blames });
    expect(call?.outcome).toBe(category === 'cancelled' ? 'ignored' : 'failure');
  });

  test('T9: OpenInference and the AI SDK 5 name models in their own way', async () => {
    const inference = { 'openinference.span.kind': 'LLM', 'llm.provider': 'anthropic', 'llm.model_name': 'claude' };
    const ai5 = { 'ai.model.provider': 'openai.chat', 'ai.model.id': 'gpt-5' };
    const name = 'ai.generateText.doGenerate';
    const calls = await callsOf(spanOf('1'.repeat(16), inference), spanOf('2'.repeat(16), ai5, { name }));
    expect(calls.map((call) => [call.name, call.outcome])).toEqual([
      ['anthropic/claude', 'success'],
      ['openai/gpt-5', 'success'],
    ]);
  });

  test('T9: of spans above each other, only the attempts of the client count', async () => {
    const outer = spanOf('1'.repeat(16), GENAI);
    const below = { parentSpanId: '1'.repeat(16) };
    const retried = spanOf('2'.repeat(16), { ...GENAI, 'error.type': '503' }, below);
    const calls = await callsOf(outer, retried, spanOf('3'.repeat(16), GENAI, below));
    expect(calls.map(({ outcome }) => outcome)).toEqual(['failure', 'success']);
  });
});
