import { BreakerboxConfigError, byHost, type Settlement } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { guard, guardAll, hookedCalls, type JudgingOptions } from './index.ts';
import { judgesBy, type KnownTool } from './judging.ts';
import { settlementOf, withReading } from './settlement.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { watchedSession } from './test-support/watched-session.ts';

afterEach(() => diag.disable());

const judgeOf = (options: JudgingOptions = {}, known: KnownTool = {}) =>
  judgesBy(options, 'guardTools()')('search', known);

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
const down = { isError: true, content: [{ type: 'text', text: 'HTTP 503 Service Unavailable' }] };

describe('O7: isFailure', () => {
  test('classifies a result as a failure, a success, or neither', () => {
    const isFailure = (result: unknown) => result as never;
    const returned = (result: unknown) => judgeOf({ isFailure }).returned(result, {});
    expect(returned(true)).toEqual({ category: 'server' });
    expect(returned('timeout')).toEqual({ category: 'timeout' });
    expect([returned(false), returned(undefined), returned('no category')]).toEqual([null, null, null]);
  });

  test('is called before classify, with the name of the tool, and not for a thrown error', () => {
    const isFailure = vi.fn(() => false);
    const classify = vi.fn(() => 'server' as const);
    const judge = judgeOf({ isFailure, classify });
    expect(judge.returned(down, {})).toBeNull();
    expect(isFailure.mock.calls).toEqual([[down, 'search']]);
    expect(classify).not.toHaveBeenCalled();
    expect(judge.thrown(refused, {})).toEqual({ category: 'server' });
    expect(isFailure).toHaveBeenCalledOnce();
  });

  test("gets the result itself, while the classifier reads the framework's version of it", () => {
    const isFailure = vi.fn();
    expect(judgeOf({ isFailure }).returned('the result', {}, down)).toMatchObject({ category: 'server' });
    expect(isFailure).toHaveBeenCalledWith('the result', 'search');
  });
});

describe('O2: classify', () => {
  test('is called for each thrown error and each result', () => {
    const classify = vi.fn(() => undefined);
    const judge = judgeOf({ classify });
    expect(judge.thrown(refused, {})).toMatchObject({ category: 'network', blames: 'tool' });
    expect(judge.returned('found', {})).toBeNull();
    expect(classify.mock.calls).toEqual([
      [refused, { returned: false, tool: 'search' }],
      ['found', { returned: true, tool: 'search' }],
    ]);
  });

  test('C14: can blame the key, and ask for a wait', () => {
    const said = { category: 'network', blames: 'key', retryAfterMs: 5, more: 1 } as const;
    expect(judgeOf({ classify: () => said }).thrown(refused, {})).toEqual({
      category: 'network',
      blames: 'key',
      retryAfterMs: 5,
    });
  });

  test('that returns an unknown category has no effect', () => {
    for (const said of ['outage', { category: 'outage' }, null, 5]) {
      expect(judgeOf({ classify: () => said as never }).thrown(refused, {})).toMatchObject({ category: 'network' });
    }
  });
});

describe('C14: key', () => {
  test('is what the function returns for input and name; only a non-empty string is a key', () => {
    const key = vi.fn((input: unknown) => input as string);
    expect(['a.example', '', 5, undefined].map((input) => judgeOf({ key }).keyOf(input))).toEqual([
      'a.example',
      undefined,
      undefined,
      undefined,
    ]);
    expect(key).toHaveBeenCalledWith('a.example', 'search');
  });

  test('is the host of the first URL in the input', () => {
    const keyOf = (input: unknown, options = {}) => judgeOf(options).keyOf(input);
    const url = 'https://A.example:8443/x';
    for (const input of [{ url }, url, { uri: url }, { urls: [url, 'https://b.example'] }]) {
      expect(keyOf(input)).toBe('a.example:8443');
    }
    const inputs = [{ url: 'file:///etc/hosts' }, { url: '/x' }, { url: 5 }, { q: 'see https://a.example' }, null, 'x'];
    expect(inputs.map((input) => keyOf(input))).toEqual(inputs.map(() => undefined));
    expect(keyOf({ url: 'https://a.example' }, { key: false })).toBeUndefined();
    expect(keyOf({ url: 'https://a.example' }, { key: () => undefined })).toBeUndefined();
  });

  test('C14: false: a refused connection blames the tool', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:80'), { code: 'ECONNREFUSED' });
    const blamed = (options: object) => judgeOf(options).thrown(refused, { url: 'http://10.0.0.1/' }).blames;
    expect([blamed({}), blamed({ key: false })]).toEqual(['key', 'tool']);
  });
});

test('C14: a call without arguments chose no host, so its failure blames the tool', () => {
  const judge = judgeOf({ kind: 'fetch' });
  expect(judge.thrown(refused, undefined)).toMatchObject({ category: 'network', blames: 'tool' });
  const missing = new Error('getaddrinfo ENOTFOUND dead.example');
  expect(judge.thrown(missing, { url: 'https://dead.example' })).toMatchObject({ blames: 'key' });
});

test('C14: in a fetch tool without a URL in its input, a refused connection without a host blames the tool', () => {
  const judge = judgeOf({ kind: 'browser' });
  expect(judge.thrown(new Error('connect ECONNREFUSED 127.0.0.1:9222'), { ref: 1 })).toMatchObject({ blames: 'tool' });
  expect(judge.thrown(new Error('net::ERR_CONNECTION_REFUSED at https://a.example/'), { ref: 1 })).toMatchObject({
    blames: 'key',
  });
  expect(judge.thrown(new Error('HTTP 403'), {})).toMatchObject({ blames: 'tool' });
});

test('kind: the output of a runner is not evidence', () => {
  const printed = { isError: true, content: [{ type: 'text', text: 'Command failed: node x.js\nfetch failed' }] };
  const kinds: JudgingOptions['kind'][] = ['runner', () => 'runner'];
  for (const kind of kinds) {
    expect(judgeOf({ ...(kind && { kind }) }).returned(printed, {})).toMatchObject({ category: 'tool_error' });
  }
  expect(judgeOf({}, { title: 'Python interpreter' }).returned(printed, {})).toMatchObject({ category: 'tool_error' });
  expect(judgeOf().returned(printed, {})).toMatchObject({ category: 'network' });
  expect(judgesBy({ kind: false }, 'guardTools()')('run_python').returned(printed, {})).toMatchObject({
    category: 'network',
  });
  const judge = judgesBy({ kind: () => 'lathe' as never }, 'guardTools()')('run_python');
  expect(judge.returned(printed, {})).toMatchObject({ category: 'tool_error' });
});

test('E5: functions that throw or return promises count as undefined, and diag gets a report', () => {
  const heard = listenToDiag();
  const throwing = () => {
    throw new Error('mine');
  };
  const judge = judgeOf({ isFailure: throwing, classify: throwing, key: throwing, kind: throwing });
  expect(judge.keyOf({})).toBeUndefined();
  expect(judge.thrown(refused, {})).toMatchObject({ category: 'network' });
  expect(judge.returned('found', {})).toBeNull();
  expect(heard.map(([text]) => /(\w+\(\)) of guardTools\(\) for tool 'search' failed/.exec(`${text}`)?.[1])).toEqual([
    'kind()',
    'key()',
    'classify()',
    'isFailure()',
    'classify()',
  ]);
  const before = heard.length;
  for (const wrong of ['sever', 1])
    expect(judgeOf({ isFailure: () => wrong as never }).returned('found', {})).toBeNull();
  expect(judgeOf({ key: () => 42 as never }).keyOf({})).toBeUndefined();
  expect(heard).toHaveLength(before + 3);
  expect(judgeOf({ isFailure: (async () => true) as never }).returned('found', {})).toBeNull();
  expect(judgeOf({ key: (async () => 'a') as never }).keyOf({})).toBeUndefined();
});

describe('a settlement', () => {
  test('comes from the framework if it knows it, otherwise from the judge', () => {
    const judge = judgeOf();
    const known = () => ({ result: down });
    expect(settlementOf({ error: refused }, judge, {}, () => ({ outcome: 'success' }))).toEqual({ outcome: 'success' });
    expect(settlementOf({ error: refused }, judge, {}, known)).toMatchObject({
      result: down,
      verdict: { category: 'server' },
    });
    expect(settlementOf({ result: 'mine' }, judge, {}, known)).toMatchObject({
      result: 'mine',
      verdict: { category: 'server' },
    });
    expect(settlementOf({ result: 'found' }, judge, {})).toEqual({ result: 'found', verdict: null });
  });

  test('from a caller gets a verdict, unless it states the outcome', () => {
    const read = (given: unknown) => withReading(given as Settlement, judgeOf(), {});
    expect(read({ error: refused, tokens: 5 })).toMatchObject({ tokens: 5, verdict: { category: 'network' } });
    expect(read(refused)).toMatchObject({ error: refused, verdict: { category: 'network' } });
    expect(read({ result: down })).toMatchObject({ verdict: { category: 'server' } });
    expect(read({ result: 'found' })).toEqual({ result: 'found', verdict: null });
    const said = [{ outcome: 'success' }, { result: down, verdict: null }, {}, 5, null];
    expect(said.map(read)).toEqual(said);
    const verdict = { category: 'denied' };
    expect(read({ error: refused, verdict })).toEqual({ error: refused, signal: undefined, verdict });
  });
});

describe('the options', () => {
  const dead = (input: { url: string }) => {
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${new URL(input.url).host}`), { code: 'ENOTFOUND' });
  };
  const fetchPage = async (input: { url: string }) => (input.url.includes('dead') ? dead(input) : 'found');
  const at = (host: string, page: number) => ({ url: `https://${host}.example/${page}` });

  test.each([{}, { key: byHost() }])(
    'C14: of 9 hosts without a scheme that are dead, the sixth is not called: %j',
    async (options) => {
      const { session } = watchedSession();
      let calls = 0;
      const call = async ({ url }: { url: string }) => {
        calls += 1;
        throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${url.split('/')[0]}`), { code: 'ENOTFOUND' });
      };
      const fetched = guard(session, 'fetch_page', call, options);
      for (let host = 0; host < 9; host += 1) await fetched({ url: `h${host}.example/x` }).catch(() => {});
      expect(calls).toBe(5);
    },
  );

  test('C14: of guard reach its session: a dead host is skipped, other hosts go on, nothing is charged', async () => {
    const { session, decisions, outcomes } = watchedSession();
    const open = guard(session, 'fetch_page', fetchPage, { key: byHost() });
    for (let page = 0; page < 4; page += 1) await open(at('dead', page)).catch(() => {});
    expect(await open(at('live', 1))).toBe('found');
    expect(decisions).toEqual([...Array(3).fill('fetch_page: call'), 'fetch_page: skip', 'fetch_page: call']);
    expect(outcomes.slice(0, 3).every((one) => one.startsWith('fetch_page: ignored'))).toBe(true);
    expect(session.view().budget.consumed).toBe(0);
  });

  test('C14: of guard get the input and the result with the types of the tool', async () => {
    const { session, outcomes } = watchedSession();
    const open = guard(session, 'fetch_page', fetchPage, {
      key: ({ url }) => new URL(url).host,
      isFailure: (page) => page.length === 5,
    });
    await open(at('live', 1));
    expect(outcomes).toEqual(['fetch_page: failure, server']);
  });

  test('O7: of guardAll and hookedCalls get the name of each tool', async () => {
    const { session, outcomes } = watchedSession();
    const isFailure = (_: unknown, tool: string) => (tool === 'read' ? 'timeout' : undefined);
    const { read, write } = guardAll(session, { read: async () => 'x', write: async () => 'x' }, { isFailure });
    await Promise.all([read(), write()]);
    const calls = hookedCalls(session, { isFailure });
    for (const tool of ['read', 'write']) {
      calls.acquire({ callId: tool, tool });
      calls.settle(tool, { result: 'x' });
    }
    const each = ['read: failure, timeout', 'write: success'];
    expect(outcomes).toEqual([...each, ...each]);
  });

  test('E6: are rejected if they are invalid', () => {
    const { session } = watchedSession();
    const using = (options: unknown) => () => guardAll(session, { now: async () => 1 }, options as never);
    for (const options of [{ key: true }, { key: 'host' }, { kind: 'lathe' }, { isFailure: true }, { classify: 5 }]) {
      expect(using(options)).toThrow(BreakerboxConfigError);
    }
    expect(using({ key: 'url' })).toThrow(/options\.key: is of type string\. Set a function such as byHost/);
    expect(using({ kind: 5 })).toThrow(/options\.kind: is 5\. Set 'browser', 'runner', 'fetch' or false/);
    expect(() => hookedCalls(session, { keys: byHost() } as never)).toThrow(/options\.keys: is not an option/);
  });
});

test('B3: a call that another guard skipped is not a failure, in any shape', () => {
  const { session } = watchedSession({ tools: { inner: { failureThreshold: 1 } } });
  session.acquire('inner').settle({ outcome: 'failure', category: 'server' });
  const { message } = session.acquire('inner');
  const judge = judgeOf();
  const results = [{ isError: true, content: [{ type: 'text', text: message }] }, { error: message }];
  expect(results.map((result) => judge.returned(result, {}))).toMatchObject(Array(2).fill({ category: 'tool_error' }));
  expect(judge.thrown(new Error(`Error: ${message}`), {})).toMatchObject({ category: 'tool_error' });
});
