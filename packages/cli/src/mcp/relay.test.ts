/** The rules of the relay, with lines in, bytes out, and a clock of the test. The processes are in test/mcp-relay.test.ts. */
import type { BreakerboxConfig } from '@breakerbox/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { callTimeouts } from './call-timeouts.ts';
import { MessageOutline } from './message-outline.ts';
import { createRelay, type RelayParts } from './relay.ts';
import { createRelayBox } from './relay-box.ts';

const REFUSED = { content: [{ type: 'text', text: 'connect ECONNREFUSED 127.0.0.1:5432' }], isError: true };
const BUSY = { content: [{ type: 'text', text: 'HTTP 429 Too Many Requests' }], isError: true };
const FOUND = { content: [{ type: 'text', text: 'found' }] };

const started = (config: Partial<BreakerboxConfig> = {}, parts: Partial<RelayParts> = {}) => {
  let ms = 0;
  const clock = { now: () => ms, unixNow: () => 1_700_000_000_000 + ms };
  const { box, session, ...rules } = createRelayBox({ agent: 'test', clock, ...config });
  const seen: string[] = [];
  box.on('decision', ({ tool, decision, reason }) => seen.push(`${tool}: ${decision}, ${reason}`));
  const outcomes: string[] = [];
  box.on('outcome', ({ tool, outcome, category }) =>
    outcomes.push(`${tool}: ${outcome}${category ? `, ${category}` : ''}`),
  );
  const relay = createRelay({ session, group: 'server', ...rules, ...parts });
  const line = (text: string) => ({ bytes: Buffer.from(`${text}\n`), whole: true });
  const send = (text: string) => {
    const { toServer, toClient } = relay.fromClient(line(text));
    return { toServer: toServer?.toString(), toClient: toClient?.toString() };
  };
  const answer = (message: object) => relay.fromServer(line(JSON.stringify({ jsonrpc: '2.0', ...message })));
  let id = 100;
  /** A call and, if it was forwarded, its answer. Gives the rejection's text. */
  const call = (tool: string, result: object, input: object = { n: id }): string | undefined => {
    id += 1;
    const { toClient } = send(request('tools/call', { name: tool, arguments: input }, String(id)));
    if (toClient !== undefined) return JSON.parse(toClient).result.content[0].text;
    answer({ id, result });
    return undefined;
  };
  const pass = (by: number): void => {
    ms += by;
  };
  return { box, session, relay, send, answer, call, pass, seen, outcomes, line };
};

const request = (method: string, params: object, id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`;

describe('lines are forwarded byte for byte', () => {
  test.each([
    ['a call with odd spaces and escapes', '{ "id" : 1.0,"method":"tools\\/call", "params":{"name":"a\\u0062"} }'],
    ['a request of any method', '{"jsonrpc":"2.0","id":1,"method":"future/method","params":[1]}'],
    ['text that is not JSON', 'Server started on port 3000'],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}, {"id":2,"method":"ping"}]'],
    ['JSON that is not a message', 'null'],
    ['a call without a name', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}'],
  ])('%s', (_, text) => {
    const { relay, send, line } = started();
    expect(send(text)).toEqual({ toServer: `${text}\n`, toClient: undefined });
    const { bytes } = line(text);
    expect(relay.fromServer({ bytes, whole: true }).toClient).toBe(bytes);
  });

  test('M2: bytes that are not UTF-8 too', () => {
    const { relay } = started();
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]);
    expect(relay.fromClient({ bytes, whole: true })).toEqual({ toServer: bytes });
  });
});

describe('R5: the answer that leaves the tool unavailable has the advice', () => {
  const ADVICE =
    "\n<breakerbox>Tool 'a' is not available now: the last calls failed (network). Do not call it now. It may work again in about 60 s. Continue without it, and say in your answer what is missing.</breakerbox>";

  /** Two failures of `a`, then one with this answer under the id `1.0`. */
  const third = (message: object | string) => {
    const { call, send, relay, line } = started();
    call('a', REFUSED);
    call('a', REFUSED);
    send(request('tools/call', { name: 'a' }, '1.0'));
    const text =
      typeof message === 'string' ? message : `{"jsonrpc":"2.0","id":1.0,${JSON.stringify(message).slice(1)}`;
    return { sent: text, heard: relay.fromServer(line(text)).toClient?.toString() };
  };

  test('R5: after the text of a result, under the id as it was written; the rest is as the server wrote it', () => {
    const { heard } = third({ result: { ...REFUSED, _meta: { n: 1 } } });
    expect(heard).toMatch(/^\{"jsonrpc":"2.0","id":1\.0,"result":/);
    const content = [{ type: 'text', text: `${REFUSED.content[0]?.text}${ADVICE}` }];
    expect(JSON.parse(heard ?? '').result).toEqual({ content, isError: true, _meta: { n: 1 } });
  });

  test('R5: after the message of a JSON-RPC error', () => {
    const { heard } = third({ error: { code: -32000, message: 'connect ECONNREFUSED 127.0.0.1:5432' } });
    expect(JSON.parse(heard ?? '').error).toEqual({
      code: -32000,
      message: `connect ECONNREFUSED 127.0.0.1:5432${ADVICE}`,
    });
  });

  test('R5, M2: an answer that leaves it available is forwarded byte for byte', () => {
    const { sent, heard } = third(`{ "id":1.0, "jsonrpc":"2.0","result":${JSON.stringify(FOUND)} }`);
    expect(heard).toBe(`${sent}\n`);
  });

  test('R5, M5: of a pause it says when that ends', () => {
    const { send, answer } = started({ budget: { failures: 1, windowMs: 120_000 }, systemic: false });
    send(request('tools/call', { name: 'a' }, '7'));
    const { toClient } = answer({ id: 7, result: REFUSED });
    const text = JSON.parse(`${toClient}`).result.content[0].text;
    expect(text).toMatch(
      /<breakerbox>Calls of the tools of this MCP server are paused: too many of its calls have failed\. Do not call tools of this server, .*The pause ends by itself in at most 2 minutes\. Say so in your answer\.<.breakerbox>$/s,
    );
  });
});

test('M2: a request with a very long id is forwarded without a decision', () => {
  const { send, seen } = started();
  for (const id of [JSON.stringify('i'.repeat(1_024)), JSON.stringify('i'.repeat(1_025)), '1'.repeat(1_025)])
    expect(send(request('tools/call', { name: 'a' }, id)).toServer).toContain(id);
  expect(seen).toEqual(['a: call, closed']);
});

describe('a rejected call is answered with a result', () => {
  const failThrice = () => {
    const relay = started();
    for (let n = 0; n < 3; n += 1) expect(relay.call('a', REFUSED)).toBeUndefined();
    return relay;
  };

  test.each(['7', '1.0', '"x\\u0041"', '9007199254740993', '-0', '"1"'])('with the id %s as it was written', (id) => {
    const { toServer, toClient } = failThrice().send(request('tools/call', { name: 'a' }, id));
    expect(toServer).toBeUndefined();
    expect(toClient).toMatch(/^\{"jsonrpc":"2\.0","id":/);
    expect(toClient?.slice('{"jsonrpc":"2.0","id":'.length).startsWith(`${id},"result"`)).toBe(true);
    expect(JSON.parse(toClient ?? '').result).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text: "Tool 'a' is unavailable: the last calls failed (network). Do not call it now. It may work again in about 60 s. Continue without it, and say in your answer what is missing. [breakerbox:not-called]",
        },
      ],
      _meta: { 'breakerbox/not-called': true },
    });
  });

  test('M4: with resultType in the stateless protocol', () => {
    const params = { name: 'a', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
    const { toClient } = failThrice().send(request('tools/call', params));
    expect(JSON.parse(toClient ?? '').result).toMatchObject({ resultType: 'complete', isError: true });
  });

  test('M4: in a batch, and the rest of the batch goes on', () => {
    const rest = '{"id": 2, "method":"ping"}';
    const sent = failThrice().send(`[${request('tools/call', { name: 'a' })}, ${rest}]`);
    expect(sent.toServer).toBe(`[${rest}]\n`);
    expect(JSON.parse(sent.toClient ?? '')).toMatchObject([{ id: 1, result: { isError: true } }]);
  });

  test('and observe_only rejects nothing', () => {
    const { call, seen } = started({ defaults: { mode: 'observe_only' } });
    for (let n = 0; n < 5; n += 1) expect(call('a', REFUSED)).toBeUndefined();
    expect(seen).toHaveLength(5);
    expect(seen.at(-1)).toMatch(/^a: call, /);
  });
});

describe('a tool and its server', () => {
  test('M3: failures of two tools open the group under the name of the server; other answers do not', () => {
    const { send, answer, call, session } = started();
    send(request('initialize', {}, '0'));
    answer({ id: 0, result: { serverInfo: { name: 'github' } } });
    for (let n = 0; n < 9; n += 1)
      call('c', { content: [{ type: 'text', text: `issue ${n} not found` }], isError: true });
    expect(session.peek('c')?.state).toBe('closed');
    call('a', REFUSED);
    call('b', REFUSED);
    call('a', REFUSED);
    expect(call('c', FOUND)).toContain("the tools of group 'github' failed (network)");
  });

  test('a name that is on no list is forwarded, and gets no circuit', () => {
    const { send, answer, call, box } = started();
    send(request('tools/list', {}, '0'));
    answer({ id: 0, result: { tools: [{ name: 'a' }] } });
    expect(call('made_up', REFUSED)).toBeUndefined();
    expect(box.tools).toEqual(['a']);
  });

  test('C13: the end of the process opens the group at once, and answers the calls under way', () => {
    const { send, relay, call } = started();
    send(request('tools/call', { name: 'a' }, '"x"'));
    const answers = relay.serverEnded('It ended.').toString();
    expect(JSON.parse(answers)).toMatchObject({ id: 'x', result: { isError: true } });
    expect(call('b', FOUND)).toContain("the tools of group 'server' failed (network)");
  });
});

describe('time ends everything', () => {
  test('M5: one probe after the cooldown closes the circuit', () => {
    const { call, pass, seen } = started();
    for (let n = 0; n < 4; n += 1) call('a', REFUSED);
    pass(60_000);
    expect(call('a', FOUND)).toBeUndefined();
    expect(call('a', FOUND)).toBeUndefined();
    expect(seen.slice(-2)).toEqual(['a: probe, probe_due', 'a: call, closed']);
  });

  test('M5: a pause of the budget ends when its oldest failure leaves the window, and the others still count', () => {
    const { call, pass, seen } = started({ budget: { failures: 3, windowMs: 120_000 }, systemic: false });
    for (const tool of ['a', 'b', 'c']) {
      call(tool, BUSY);
      pass(30_000);
    }
    expect(call('d', FOUND)).toMatch(/in at most 1 minute\. Say so/);
    pass(30_001);
    expect(call('d', FOUND)).toBeUndefined();
    call('d', BUSY);
    expect(call('e', FOUND)).toContain('paused'); // Those of b, c and d.
    pass(29_999);
    expect(call('e', FOUND)).toContain('paused');
    pass(1);
    expect(call('e', FOUND)).toBeUndefined();
    expect(seen.filter((one) => one.startsWith('e: '))).toEqual([
      'e: pause, budget_exhausted',
      'e: pause, budget_exhausted',
      'e: call, closed',
    ]);
  });

  test('M5: a pause of the budget ends after its window, and the model reads so', () => {
    const { call, pass } = started({ budget: { failures: 2, windowMs: 120_000 }, systemic: false });
    call('a', REFUSED);
    call('b', REFUSED);
    const text = call('c', FOUND);
    expect(text).toMatch(
      /The pause ends by itself in at most 2 minutes\. Say so in your answer\. \[breakerbox:not-called\]$/,
    );
    expect(text).not.toContain('a person');
    pass(120_000);
    expect(call('c', FOUND)).toContain('paused');
    pass(1);
    expect(call('c', FOUND)).toBeUndefined();
  });

  test('B6: with the rule strict only a person ends it', () => {
    const { call, pass } = started({ budget: { rule: 'strict', failures: 2 }, systemic: false });
    call('a', REFUSED);
    call('b', REFUSED);
    pass(86_400_000);
    expect(call('c', FOUND)).toMatch(/a person must resume the run\./);
  });
});

describe('calls of several messages', () => {
  const CALL = request('tools/call', { name: 'a', arguments: { q: 1 } }, '5');

  test('M6: a cancelled call costs nothing, and its late answer is forwarded', () => {
    const { send, answer, outcomes } = started();
    send(CALL);
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"user"}}';
    expect(send(cancel).toServer).toBe(`${cancel}\n`);
    expect(answer({ id: 5, result: REFUSED }).toClient).toBeDefined();
    expect(outcomes).toEqual(['a: ignored, cancelled']);
  });

  test('a call that the client gives up by its own timeout is a failure', () => {
    const { send, outcomes } = started();
    send(CALL);
    const reason = 'McpError: MCP error -32001: Request timed out';
    send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"${reason}"}}`);
    expect(outcomes).toEqual(['a: failure, timeout']);
  });

  test('M6: questions of the server cost nothing, and answering them is no repeat', () => {
    const { send, answer, outcomes } = started();
    send(CALL);
    for (let n = 0; n < 6; n += 1) {
      answer({ id: 5, result: { resultType: 'input_required', requestState: `s${n}` } });
      expect(
        send(request('tools/call', { name: 'a', arguments: { q: 1 }, requestState: `s${n}` }, '5')).toClient,
      ).toBeUndefined();
    }
    answer({ id: 5, result: FOUND });
    expect(new Set(outcomes)).toEqual(new Set(['a: ignored, cancelled', 'a: success']));
  });

  test.each([
    ['completed', 'a: success'],
    ['failed', 'a: failure, unknown'],
    ['cancelled', 'a: ignored, cancelled'],
  ])('a task settles when it is %s', (status, outcome) => {
    const { send, answer, outcomes } = started();
    send(CALL);
    answer({ id: 5, result: { task: { taskId: 't', status: 'working' } } });
    send(request('tasks/get', { taskId: 't' }, '6'));
    answer({ id: 6, result: { taskId: 't', status: 'working' } });
    expect(outcomes).toEqual([]);
    send(request('tasks/get', { taskId: 't' }, '7'));
    answer({ id: 7, result: { taskId: 't', status } });
    expect(outcomes).toEqual([outcome]);
  });

  /** A probe that the server has answered with a task. */
  const probedByTask = () => {
    const relay = started();
    for (let n = 0; n < 3; n += 1) relay.call('a', REFUSED);
    relay.pass(60_000);
    relay.send(CALL);
    relay.answer({ id: 5, result: { task: { taskId: 't', status: 'working' } } });
    const poll = (status: string): void => {
      relay.send(request('tasks/get', { taskId: 't' }, '6'));
      relay.answer({ id: 6, result: { taskId: 't', status } });
    };
    return { ...relay, poll };
  };

  test('M6: a probe lasts as long as its task', () => {
    const { call, pass, poll, outcomes } = probedByTask();
    for (let n = 0; n < 10; n += 1) {
      pass(1_800_000);
      expect(call('a', FOUND)).toContain('unavailable');
      poll('working');
    }
    poll('completed');
    expect(outcomes.at(-1)).toBe('a: success');
    expect(call('a', FOUND)).toBeUndefined();
  });

  test('M6: a probe fails when nothing is heard of its task for an hour', () => {
    const { call, pass, outcomes } = probedByTask();
    pass(3_600_000);
    expect(call('a', FOUND)).toContain('unavailable');
    expect(outcomes.at(-1)).toBe('a: failure, timeout');
    pass(300_000);
    expect(call('a', FOUND)).toBeUndefined();
  });

  test('M4, M6: a rejected call that asks for a task gets one, with the text as its result', () => {
    const { send, call } = started();
    for (let n = 0; n < 3; n += 1) call('a', REFUSED);
    const asked = send(request('tools/call', { name: 'a', task: { ttl: 5_000 } }, '7'));
    expect(asked.toServer).toBeUndefined();
    const { task } = JSON.parse(asked.toClient ?? '').result;
    expect(task).toMatchObject({ status: 'completed', ttl: 5_000, createdAt: expect.stringMatching(/^20/) });
    const about = (method: string) => {
      const { toServer, toClient } = send(request(method, { taskId: task.taskId }, '8'));
      expect(toServer).toBeUndefined();
      return JSON.parse(toClient ?? '');
    };
    expect(about('tasks/get')).toEqual({ jsonrpc: '2.0', id: 8, result: task });
    expect(about('tasks/cancel')).toMatchObject({ error: { code: -32_602 } });
    expect(about('tasks/result').result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("Tool 'a' is unavailable") }],
      _meta: { 'io.modelcontextprotocol/related-task': { taskId: task.taskId } },
    });
    const other = request('tasks/get', { taskId: 'other' }, '9');
    expect(send(other)).toEqual({ toServer: `${other}\n`, toClient: undefined });
  });

  const cancel = (id: string) =>
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"user"}}`;

  test('M6: cancellation in every position is forwarded, and changes nothing but the call under way', () => {
    const { send, answer, call, outcomes } = started();
    send(CALL);
    for (const id of ['5', '5', '77', '"5"', 'null']) expect(send(cancel(id)).toServer).toBe(`${cancel(id)}\n`);
    answer({ id: 5, result: FOUND });
    expect(outcomes).toEqual(['a: ignored, cancelled']);
    send(CALL);
    answer({ id: 5, result: FOUND });
    expect(send(cancel('5')).toServer).toBe(`${cancel('5')}\n`);
    expect(outcomes).toEqual(['a: ignored, cancelled', 'a: success']);
    for (let n = 0; n < 3; n += 1) call('a', REFUSED);
    expect(send(CALL).toClient).toContain('unavailable');
    expect(send(cancel('5')).toServer).toBe(`${cancel('5')}\n`);
    expect(outcomes).toHaveLength(5);
  });

  test('M6: an id that is used again gives up the call before', () => {
    const { send, answer, outcomes } = started();
    send(CALL);
    send(CALL);
    answer({ id: 5, result: FOUND });
    expect(outcomes).toEqual(['a: ignored, cancelled', 'a: success']);
  });

  test('and so does the result of a task', () => {
    const { send, answer, outcomes } = started();
    send(CALL);
    answer({ id: 5, result: { resultType: 'task', taskId: 't', status: 'working' } });
    send(request('tasks/result', { taskId: 't' }, '6'));
    answer({ id: 6, result: REFUSED });
    expect(outcomes).toEqual(['a: failure, network']);
  });

  test('requests of the server with the same id end nothing', () => {
    const { send, answer, outcomes } = started();
    send(CALL);
    answer({ id: 5, method: 'sampling/createMessage', params: {} });
    expect(outcomes).toEqual([]);
    answer({ id: 5, error: { code: -32603, message: 'connect ECONNREFUSED 127.0.0.1:1' } });
    expect(outcomes).toEqual(['a: failure, network']);
  });
});

describe('a call that the server does not answer', () => {
  afterEach(() => void vi.useRealTimers());

  /** A relay whose calls may take 10 s, those of `slow` 60 s. */
  const timed = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const relay = started({}, { timeouts: callTimeouts(['10s', 'slow=1m']) });
    const timeouts: { toClient: string; toServer: string }[] = [];
    relay.relay.onTimeout(({ toClient, toServer }) =>
      timeouts.push({ toClient: `${toClient}`, toServer: `${toServer}` }),
    );
    const begin = (tool: string, id = '1.0', params: object = {}) =>
      relay.send(request('tools/call', { name: tool, ...params }, id));
    return { ...relay, timeouts, begin };
  };

  test('M6: is answered with a result, cancelled at the server, and counts as a timeout', () => {
    const { begin, timeouts, outcomes } = timed();
    begin('a');
    vi.advanceTimersByTime(9_999);
    expect(timeouts).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(outcomes).toEqual(['a: failure, timeout']);
    expect(timeouts[0]?.toClient).toMatch(
      /^\{"jsonrpc":"2.0","id":1\.0,"result":\{.*did not answer within 10 s.*"isError":true\}\}\n$/,
    );
    expect(timeouts[0]?.toServer).toMatch(
      /^\{"jsonrpc":"2.0","method":"notifications\/cancelled","params":\{"requestId":1\.0,"reason":"[^"]+"\}\}\n$/,
    );
  });

  test('M6: its late answer is not forwarded, and others are', () => {
    const { begin, answer, outcomes, relay, line } = timed();
    begin('a', '1');
    begin('slow', '2');
    vi.advanceTimersByTime(10_000);
    expect(answer({ id: 1, result: FOUND }).toClient).toBeUndefined();
    expect(answer({ id: 1, result: FOUND }).toClient).toBeDefined();
    begin('a', '3');
    vi.advanceTimersByTime(10_000);
    const batch = '[{"id":3,"result":{}}, {"id":2, "result":{}}]';
    expect(`${relay.fromServer(line(batch)).toClient}`).toBe('[{"id":2, "result":{}}]\n');
    expect(outcomes).toEqual(['a: failure, timeout', 'a: failure, timeout', 'slow: success']);
  });

  test('M6: an id that the client uses again gets its own answer', () => {
    const { begin, answer, outcomes } = timed();
    begin('a');
    vi.advanceTimersByTime(10_000);
    begin('a', '1');
    expect(answer({ id: 1, result: FOUND }).toClient).toBeDefined();
    expect(outcomes).toEqual(['a: failure, timeout', 'a: success']);
  });

  test('M6: an answer, a cancellation, progress and a question of the server stop the time', () => {
    const { begin, answer, send, timeouts, outcomes } = timed();
    begin('a', '1');
    answer({ id: 1, result: FOUND });
    begin('b', '2');
    send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}');
    begin('c', '3', { _meta: { progressToken: 'p' } });
    vi.advanceTimersByTime(9_000);
    answer({ method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } });
    vi.advanceTimersByTime(9_000);
    answer({ id: 'q', method: 'elicitation/create', params: {} });
    vi.advanceTimersByTime(60_000);
    expect(timeouts).toEqual([]);
    send('{"jsonrpc":"2.0","id":"q","result":{}}');
    vi.advanceTimersByTime(10_000);
    expect(timeouts).toHaveLength(1);
    expect(outcomes).toEqual(['a: success', 'b: ignored, cancelled', 'c: failure, timeout']);
  });

  test('M6: a question that the client has left open stops only the calls that were under way', () => {
    const { begin, answer, send, timeouts, outcomes } = timed();
    begin('a', '1');
    answer({ id: 'q', method: 'elicitation/create', params: {} });
    begin('b', '2');
    vi.advanceTimersByTime(10_000);
    expect(outcomes).toEqual(['b: failure, timeout']);
    send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    begin('c', '3');
    vi.advanceTimersByTime(10_000);
    expect(timeouts).toHaveLength(2);
    expect(outcomes.slice(1)).toEqual(['a: ignored, cancelled', 'c: failure, timeout']);
  });

  test('M6: of a tool with a time of its own', () => {
    const { begin, timeouts } = timed();
    begin('slow');
    vi.advanceTimersByTime(59_999);
    expect(timeouts).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(timeouts[0]?.toClient).toContain('within 60 s');
  });

  test.each([
    [['10'], /not a time/],
    [['a=0s'], /not a time/],
    [['30d'], /not a time/],
    [['700h'], /not a time/],
    [['=5s'], /no tool is named/],
    [['5s', '6s'], /twice for all tools/],
    [['a=5s', 'a=6s'], /twice for 'a'/],
  ])('wrong times are refused: %j', (values, text) => {
    expect(() => callTimeouts(values)).toThrow(text);
  });
});

describe('a server that is started again', () => {
  test('M7: each request under way is answered, and the questions of the server are withdrawn', () => {
    const { send, answer, relay, outcomes } = started({}, { watchesAll: true });
    send(request('tools/call', { name: 'a' }, '1.0'));
    send(request('resources/list', {}, '"r"'));
    answer({ id: 7, method: 'elicitation/create' });
    const [call, other, cancelled] = relay.serverEnded('It has ended.').toString().trim().split('\n');
    expect(call).toMatch(/^\{"jsonrpc":"2.0","id":1\.0,"result".*"isError":true/);
    expect(JSON.parse(other ?? '')).toMatchObject({ id: 'r', error: { code: -32_000, message: 'It has ended.' } });
    expect(JSON.parse(cancelled ?? '')).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 7 } });
    expect(outcomes).toEqual(['a: failure, network']);
    const late = '{"jsonrpc":"2.0","id":7,"result":{}}';
    expect(send(late)).toEqual({ toServer: undefined, toClient: undefined });
    answer({ id: 7, method: 'elicitation/create' });
    expect(send(late).toServer).toBe(`${late}\n`);
  });
});

test('M2: another client of the same server has its own ids, and shares the circuits', () => {
  const { relay, line, send, answer, outcomes } = started();
  const other = relay.another();
  const refused = line(JSON.stringify({ id: 1, result: REFUSED }));
  for (const n of [1, 2, 3]) {
    send(request('tools/call', { name: 'a', arguments: { n } }));
    other.fromClient(line(request('tools/call', { name: 'b', arguments: { n } })));
    other.fromServer(refused);
    expect(outcomes.at(-1)).toBe('b: failure, network');
    answer({ id: 1, result: FOUND });
    expect(outcomes.at(-1)).toBe('a: success');
  }
  expect(send(request('tools/call', { name: 'b' })).toClient).toContain('unavailable');
});

describe('a message that is too long to be forwarded', () => {
  const outline = (text: string) => ({ bytes: Buffer.from(`${text}\n`), whole: false });
  const textOf = (bytes: Buffer | undefined) => JSON.parse(`${bytes}`);

  test('M2: a call is answered with a result, and another request with an error', () => {
    const { relay, outcomes } = started();
    const { toServer, toClient } = relay.fromClient(outline('{"id":1.0,"method":"tools/call"}'));
    expect(toServer).toBeUndefined();
    expect(textOf(toClient)).toMatchObject({ id: 1, result: { isError: true } });
    expect(textOf(toClient).result.content[0].text).toContain('longer than 64 MiB');
    expect(textOf(relay.fromClient(outline('{"id":2,"method":"x"}')).toClient)).toMatchObject({
      error: { code: -32_000 },
    });
    expect(relay.fromClient(outline('{"method":"x"}'))).toEqual({});
    expect(textOf(relay.fromClient(outline('{"id":3}')).toServer)).toMatchObject({ id: 3, error: { code: -32_000 } });
    expect(outcomes).toEqual([]);
  });

  test('M2: each request of a batch is answered, as a batch, and each answer of one is replaced', () => {
    const { send, relay, outcomes } = started();
    const batch = '[{"id":1,"method":"tools/call"},{"id":2,"method":"x"},{"method":"x"},{"id":3}]';
    const { toClient, toServer } = relay.fromClient(outline(batch));
    expect(textOf(toClient)).toMatchObject([
      { id: 1, result: { isError: true } },
      { id: 2, error: {} },
    ]);
    expect(textOf(toServer)).toMatchObject([{ id: 3, error: {} }]);
    for (const id of [4, 5]) send(request('tools/call', { name: 'a' }, `${id}`));
    const answers = relay.fromServer(outline('[{"id":4},{"id":5}]'));
    expect(textOf(answers.toClient)).toMatchObject([4, 5].map((id) => ({ id, result: { isError: true } })));
    expect(outcomes).toEqual(['a: ignored, tool_error', 'a: ignored, tool_error']);
  });

  test('M2: a message with a very long id is answered too', () => {
    const { relay } = started();
    for (const length of [1_025, 60_000]) {
      const id = 'i'.repeat(length);
      const outlined = new MessageOutline();
      outlined.push(Buffer.from(`{"id":"${id}","method":"tools/call","params":{}}`));
      const { toClient } = relay.fromClient({ bytes: outlined.line(), whole: false });
      expect(textOf(toClient)).toMatchObject({ id, result: { isError: true } });
      const answer = outline(`{"id":"${id}"}`);
      expect(textOf(relay.fromServer(answer).toClient)).toMatchObject({ id, error: { code: -32_000 } });
    }
    expect(relay.fromClient(outline('{"id":null,"method":"x"}'))).toEqual({});
  });

  test('M2: an answer is replaced, and costs the tool nothing', () => {
    const { send, relay, outcomes } = started();
    send(request('tools/call', { name: 'a' }, '1.0'));
    expect(textOf(relay.fromServer(outline('{"id":1}')).toClient)).toMatchObject({ id: 1, result: { isError: true } });
    expect(textOf(relay.fromServer(outline('{"id":5,"method":"x"}')).toServer)).toMatchObject({ id: 5, error: {} });
    expect(relay.fromServer(outline('{}'))).toEqual({});
    expect(outcomes).toEqual(['a: ignored, tool_error']);
  });
});
