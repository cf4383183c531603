/** Where servers and clients differ from the specification: ids, hangs, questions, other sessions. Lines in, bytes out. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { callTimeouts } from './call-timeouts.ts';
import { createRelay } from './relay.ts';
import { createRelayBox } from './relay-box.ts';

const FOUND = { content: [{ type: 'text', text: 'found' }] };

const started = (timeouts?: string) => {
  const clock = { now: () => Date.now(), unixNow: () => Date.now() };
  const { box, session, ...rules } = createRelayBox({ agent: 'test', clock, budget: false });
  const outcomes: string[] = [];
  box.on('outcome', ({ tool, outcome, category }) => outcomes.push(`${tool}: ${outcome} ${category ?? ''}`.trim()));
  const parts = timeouts === undefined ? {} : { timeouts: callTimeouts([timeouts]) };
  const relay = createRelay({ session, group: 'server', watchesAll: true, ...rules, ...parts });
  const pings: string[] = [];
  relay.onOwnRequest((line) => pings.push(JSON.parse(`${line}`).id));
  const late: string[] = [];
  relay.onTimeout(({ toClient }) => late.push(`${toClient}`));
  const line = (message: object | string) => {
    const text = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message });
    return { bytes: Buffer.from(`${text}\n`), whole: true };
  };
  const send = (message: object) => relay.fromClient(line(message)).toClient?.toString();
  const answer = (message: object | string) => relay.fromServer(line(message)).toClient?.toString();
  const call = (id: unknown, name = 'a', more: object = {}) =>
    send({ id, method: 'tools/call', params: { name, arguments: { id }, ...more } });
  const cancel = (requestId: unknown, reason?: string) =>
    send({ method: 'notifications/cancelled', params: { requestId, ...(reason && { reason }) } });
  return { relay, pings, late, send, answer, call, cancel, outcomes };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1_000);

describe('M2: a server that echoes a number as a string, or the other way round', () => {
  test.each([
    [3, '"3"'],
    ['3', '3'],
  ])('M2: the answer to %j comes under the id of the request', (id, echoed) => {
    const { call, answer, outcomes, relay } = started('1s');
    call(id);
    const result = JSON.stringify(FOUND);
    expect(answer(`{"jsonrpc":"2.0","id":${echoed},"result":${result}}`)).toBe(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}\n`,
    );
    pass(2);
    expect(outcomes).toEqual(['a: success']);
    expect(relay.serverEnded('gone').length).toBe(0);
  });

  test('M2: the exact id comes first', () => {
    const { call, answer, outcomes } = started();
    call(3, 'number');
    call('3', 'string');
    answer({ id: '3', result: FOUND });
    expect(outcomes).toEqual(['string: success']);
  });
});

describe('O10, M6: a server that hangs', () => {
  test.each([undefined, 'caller cancelled', 'the user has stopped'])(
    'whatever the reason (%s), silence and a ping without an answer are the evidence',
    (reason) => {
      const { call, cancel, outcomes, pings } = started();
      for (let id = 1; id <= 2; id += 1) {
        expect(call(id)).toBeUndefined();
        pass(10);
        cancel(id, reason);
      }
      expect(pings).toHaveLength(1);
      expect(outcomes.at(-1)).toBe('a: failure timeout');
      expect(call(3, 'b')).toContain("the tools of group 'server' failed (timeout)");
    },
  );

  test('calls that their client forgets count too, and their answers still pass', () => {
    const { call, answer, outcomes } = started();
    call(1);
    pass(10);
    call(2);
    pass(10);
    expect(outcomes).toContain('a: failure timeout');
    expect(answer({ id: 1, result: FOUND })).toContain('found');
  });

  test('at the first sign of life the next call is the probe', () => {
    const { call, answer, outcomes, pings } = started();
    call(1);
    pass(61);
    expect(call(2)).toContain('unavailable');
    expect(answer({ id: pings[0], result: {} })).toBeUndefined(); // The client did not ask.
    expect(call(3)).toBeUndefined();
    answer({ id: 3, result: FOUND });
    expect(call(4)).toBeUndefined();
    expect(outcomes).toEqual(['a: failure timeout', 'a: success']);
  });

  test('a slow tool of a server that answers pings has not failed, however it is cancelled', () => {
    const { call, cancel, answer, outcomes, pings } = started();
    call(1);
    for (let n = 0; n < 30; n += 1) {
      pass(10);
      for (const id of pings.splice(0)) answer({ id, result: {} });
    }
    cancel(1);
    expect(outcomes).toEqual(['a: ignored cancelled']);
  });

  test('a server that speaks, and never answers pings, does not hang', () => {
    const { call, answer, outcomes } = started();
    call(1);
    pass(12);
    answer({ method: 'notifications/message', params: { level: 'info', data: 'working' } });
    pass(100);
    call(2);
    pass(100);
    expect(outcomes).toEqual([]);
  });

  test('no ping goes out while a person is asked', () => {
    const { call, answer, pings } = started();
    call(1);
    answer({ id: 's1', method: 'elicitation/create', params: {} });
    pass(300);
    expect(pings).toEqual([]);
  });

  test.each(['context deadline exceeded', 'McpError: Request timed out'])(
    'M6: the reason "%s" names a time limit',
    (reason) => {
      const { call, cancel, outcomes } = started();
      call(1);
      cancel(1, reason);
      expect(outcomes).toEqual(['a: failure timeout']);
    },
  );
});

test('M6: the time of --call-timeout begins again when the client has answered a question', () => {
  const { call, answer, send, late } = started('2s');
  call(1);
  answer({ id: 's1', method: 'elicitation/create', params: {} });
  pass(5);
  send({ id: 's1', result: { action: 'accept' } });
  pass(1.5);
  expect(late).toEqual([]);
  pass(1);
  expect(late).toHaveLength(1);
});

test('M6: progress of a call that has timed out does not reach the client', () => {
  const { call, answer } = started('2s');
  call(1, 'a', { _meta: { progressToken: 7 } });
  const progress = { method: 'notifications/progress', params: { progressToken: 7, progress: 1 } };
  expect(answer(progress)).toContain('progressToken');
  pass(3);
  expect(answer(progress)).toBeUndefined();
  call(2, 'a', { _meta: { progressToken: 7 } });
  expect(answer(progress)).toContain('progressToken');
});

test('M6: with --call-timeout, progress of one call leaves the time of another one', () => {
  const { call, answer, late } = started('2s');
  call(1, 'a', { _meta: { progressToken: 'one' } });
  call(2, 'a', { _meta: { progressToken: 'two' } });
  pass(1.5);
  answer({ method: 'notifications/progress', params: { progressToken: 'one', progress: 1 } });
  pass(1);
  expect(late).toHaveLength(1);
  expect(late[0]).toContain('"id":2,');
});

test('M10: what a message of the server costs does not grow with the calls under way', () => {
  vi.useRealTimers();
  const line = { bytes: Buffer.from('{"jsonrpc":"2.0","method":"notifications/x"}\n'), whole: true };
  const cost = (calls: number): number => {
    const { call, relay } = started('1h');
    for (let id = 0; id < calls; id += 1) call(id, 'a', { _meta: { progressToken: id } });
    const times = Array.from({ length: 5 }, () => {
      const began = process.hrtime.bigint();
      for (let n = 0; n < 1_000; n += 1) relay.fromServer(line);
      return Number(process.hrtime.bigint() - began);
    });
    relay.clientEnded();
    return Math.min(...times);
  };
  cost(1);
  expect(cost(900) / cost(1)).toBeLessThan(5);
});

describe('M7: another session of the server', () => {
  const REFUSED = { tools: [{ name: 'a' }] };
  const begun = () => {
    const parts = started();
    parts.send({ id: 0, method: 'initialize', params: {} });
    parts.answer({ id: 0, result: { capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'files' } } });
    parts.send({ id: 'l', method: 'tools/list' });
    parts.answer({ id: 'l', result: REFUSED });
    return parts;
  };

  test('M7: gets the log level and the subscriptions, and the client hears that lists may have changed', () => {
    const { relay, send, answer } = begun();
    send({ id: 1, method: 'logging/setLevel', params: { level: 'debug' } });
    send({ id: 2, method: 'resources/subscribe', params: { uri: 'file:///a' } });
    send({ id: 3, method: 'resources/subscribe', params: { uri: 'file:///b' } });
    send({ id: 4, method: 'resources/unsubscribe', params: { uri: 'file:///b' } });
    const { toServer, toClient } = relay.sessionBegan();
    const requests = `${toServer}`
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(requests.map(({ method, params }) => [method, params])).toEqual([
      ['logging/setLevel', { level: 'debug' }],
      ['resources/subscribe', { uri: 'file:///a' }],
    ]);
    for (const { id } of requests) expect(answer({ id, result: {} })).toBeUndefined();
    expect(
      `${toClient}`
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).method),
    ).toEqual(['notifications/tools/list_changed', 'notifications/resources/list_changed']);
  });

  test('C13: the next call is the probe, and no tool passes before, listed or not', () => {
    const { relay, call, outcomes } = begun();
    call(5);
    relay.serverEnded('The server has ended.');
    expect(outcomes).toEqual(['a: failure network']);
    expect([call(6), call(7, 'on no list')].every((one) => one?.includes('unavailable'))).toBe(true);
    relay.sessionBegan();
    expect(call(8)).toBeUndefined();
  });

  test('M7: while the server is started again, the model reads how long that takes, not the wait of the circuit', () => {
    const { relay, call } = begun();
    call(5);
    expect(`${relay.serverEnded('It has ended.', 1_000)}`).toContain(
      'The server is started again. It may work again in about 3 s.',
    );
    pass(1);
    expect(call(6)).toContain('The server is started again. It may work again in about 2 s.');
    relay.sessionBegan();
    expect(call(7)).toBeUndefined();
    expect(`${relay.serverEnded('It has ended for good.')}`).not.toContain('is started again');
  });

  test('C13: a call that has not been sent yet is not sent any more once the group is open', () => {
    const { relay, call } = begun();
    call(5);
    call(6);
    const waiting = [{ id: '6' }] as unknown as Parameters<typeof relay.mayStillGo>[0];
    expect(relay.mayStillGo(waiting)).toBe(true);
    const failed = [{ id: '5' }] as unknown as Parameters<typeof relay.mayStillGo>[0];
    const settlement = { outcome: 'failure', category: 'network', blames: 'group' } as const;
    relay.requestsFailed(failed, { settlement, text: 'refused' });
    expect(relay.mayStillGo(waiting)).toBe(false);
  });
});
