/** The rules of the relay, with lines in, bytes out, and a clock of the test. The processes are in test/mcp-relay.test.ts. */
import type { BreakerboxConfig } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { createRelay } from './relay.ts';
import { createRelayBox } from './relay-box.ts';

const REFUSED = { content: [{ type: 'text', text: 'connect ECONNREFUSED 127.0.0.1:5432' }], isError: true };
const FOUND = { content: [{ type: 'text', text: 'found' }] };

const started = (config: Partial<BreakerboxConfig> = {}) => {
  let ms = 0;
  const clock = { now: () => ms, unixNow: () => 1_700_000_000_000 + ms };
  const { box, session, ...rules } = createRelayBox({ agent: 'test', clock, ...config });
  const seen: string[] = [];
  box.on('decision', ({ tool, decision, reason }) => seen.push(`${tool}: ${decision}, ${reason}`));
  const outcomes: string[] = [];
  box.on('outcome', ({ tool, outcome, category }) =>
    outcomes.push(`${tool}: ${outcome}${category ? `, ${category}` : ''}`),
  );
  const relay = createRelay({ session, group: 'server', ...rules });
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

test('M2: a request with a very long id is forwarded without a decision', () => {
  const { send, seen } = started();
  for (const id of [JSON.stringify('i'.repeat(1_024)), JSON.stringify('i'.repeat(1_025))])
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
          text: "Tool 'a' is unavailable: the last calls failed (network). Do not retry it now; it may be tried again in 60 s. Continue without it, and say in your answer what is missing.",
        },
      ],
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

  test('M5: a pause of the budget ends after its window, and the model reads so', () => {
    const { call, pass } = started({ budget: { failures: 2, windowMs: 120_000 }, systemic: false });
    call('a', REFUSED);
    call('b', REFUSED);
    const text = call('c', FOUND);
    expect(text).toMatch(/The pause ends by itself in at most 2 minutes\. Say so in your answer\.$/);
    expect(text).not.toContain('a person');
    pass(119_000);
    expect(call('c', FOUND)).toContain('paused');
    pass(1_000);
    expect(call('c', FOUND)).toBeUndefined();
  });

  test('B6: with the rule strict only a person ends it', () => {
    const { call, pass } = started({ budget: { rule: 'strict', failures: 2 }, systemic: false });
    call('a', REFUSED);
    call('b', REFUSED);
    pass(86_400_000);
    expect(call('c', FOUND)).toMatch(/a person must resume the run\.$/);
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
