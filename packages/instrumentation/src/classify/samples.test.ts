import { readFileSync } from 'node:fs';
import { DEFAULT_JUDGEMENT } from '@breakerbox/core';
import { describe, expect, it } from 'vitest';
import { type ReadContext, readReturned, readThrown, type Verdict } from './classify.ts';
import { TOOL_KINDS, type ToolKind } from './kind.ts';

/** What real MCP servers, benchmarks' tools, API wrappers, drivers and browsers said; how a row reads is told in its first lines' keys. */
interface Row {
  readonly expect: 'outage' | 'business' | 'target';
  readonly category?: string;
  readonly text: string;
  readonly tool?: string;
  readonly input?: unknown;
  readonly isError?: boolean;
  readonly note?: string;
}

const rowsOf = (file: string): readonly Row[] =>
  readFileSync(new URL(`../test-support/classify/${file}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line): Row => JSON.parse(line))
    .filter(({ note }) => note === undefined);

class McpError extends Error {
  readonly code: number;
  constructor(code: number, text: string) {
    super(text.startsWith('MCP error') ? text : `MCP error ${code}: ${text}`);
    this.code = code;
  }
}

const contextOf = ({ tool, input }: Row): ReadContext => ({
  ...(tool !== undefined && { tool }),
  ...(TOOL_KINDS.some((kind) => kind === tool) && { kind: tool as ToolKind }),
  input,
  unixMs: 0,
});

type Shape = (row: Row) => Verdict | undefined;
const content = ({ text }: Row) => [{ type: 'text', text }];
const SHAPES: Readonly<Record<string, Shape>> = {
  thrown: (row) => readThrown(new Error(row.text), contextOf(row)),
  'an MCP result with isError': (row) => readReturned({ isError: true, content: content(row) }, contextOf(row)),
  'an object with error': (row) => readReturned({ error: row.text }, contextOf(row)),
  'JSON-RPC -32603': (row) => readThrown(new McpError(-32603, row.text), contextOf(row)),
  'JSON-RPC -32000': (row) => readThrown(new McpError(-32000, row.text), contextOf(row)),
};
/** Rows with `isError: false` are results that do not say that they are errors. */
const PLAIN: Readonly<Record<string, Shape>> = {
  'an MCP result': (row) => readReturned({ content: content(row) }, contextOf(row)),
  'a string': (row) => readReturned(row.text, contextOf(row)),
};

const counts = (verdict: Verdict | undefined): boolean =>
  verdict !== undefined && verdict.blames === 'tool' && DEFAULT_JUDGEMENT[verdict.category] === 'failure';

const wrong = (rows: readonly Row[], shape: Shape, right: (verdict: Verdict | undefined) => boolean) =>
  rows.filter((row) => !right(shape(row))).map(({ text }) => text);

const MORE = [2, 3, 4, 5, 6].map((number) => `held-out-${number}`);
describe.each(['error-texts', 'held-out', ...MORE])('O2: %s', (file) => {
  const all = rowsOf(`${file}.jsonl`);
  const shapes = [
    ...Object.entries(SHAPES).map(([name, shape]) => ({
      name,
      shape,
      rows: all.filter((row) => row.isError !== false),
    })),
    ...Object.entries(PLAIN).map(([name, shape]) => ({
      name,
      shape,
      rows: all.filter((row) => row.isError === false),
    })),
  ];

  it.each(shapes)(
    'O2: business answers do not count, outages do, failing targets blame the key: $name',
    ({ shape, rows }) => {
      const of = (kind: Row['expect']) => rows.filter((row) => row.expect === kind);
      expect(wrong(of('business'), shape, (verdict) => !counts(verdict))).toEqual([]);
      expect(wrong(of('target'), shape, (verdict) => verdict?.blames === 'key')).toEqual([]);
      expect(wrong(of('outage'), shape, counts).length).toBeLessThanOrEqual(of('outage').length * 0.05);
    },
  );

  it('O2: the category is the expected one, with few exceptions', () => {
    const given = all.filter(({ category, isError }) => category !== undefined && isError !== false);
    const others = given.filter((row) => SHAPES.thrown?.(row)?.category !== row.category);
    expect(others.length).toBeLessThanOrEqual(given.length * 0.06);
  });

  it('O2: the same text has the same verdict in every shape', () => {
    for (const row of all.filter(({ isError }) => isError !== false)) {
      const [first, ...others] = Object.values(SHAPES).map((shape) => shape(row));
      for (const { category, blames } of others.filter((verdict) => verdict !== undefined)) {
        expect({ text: row.text, category, blames }).toEqual({
          text: row.text,
          category: first?.category,
          blames: first?.blames,
        });
      }
    }
  });
});

describe('O8: what texts of real tools say about the tool', () => {
  const rows = ['error-texts', 'held-out', ...MORE]
    .flatMap((file) => rowsOf(`${file}.jsonl`))
    .filter(({ expect: kind, isError }) => kind === 'business' && isError !== false);
  const unexplained = rows.map((row) => SHAPES['an MCP result with isError']?.(row)?.unexplained);

  it('O8: of business answers at most 2.5 % can make a tool unusable with 4 inputs, and at most 10 % more with 6', () => {
    const share = (ofTool: boolean) => unexplained.filter((one) => one?.ofTool === ofTool).length / rows.length;
    expect(rows.length).toBeGreaterThan(600);
    expect([share(true) <= 0.025, share(false) <= 0.1]).toEqual([true, true]);
  });

  it('O8: of 46 texts of dead tools, 38 count as an outage or can make the tool unusable', () => {
    const dead = rowsOf('dead-tools.jsonl');
    const seen = dead.filter((row) => {
      const verdict = SHAPES['an MCP result with isError']?.(row);
      return counts(verdict) || verdict?.unexplained !== undefined;
    });
    expect([dead.length, seen.length]).toEqual([46, 38]);
  });
});

describe('O2: text without evidence', () => {
  it('O2: is unknown where it was thrown, and tool_error where it was returned or sent as JSON-RPC', () => {
    for (const text of ['boom', "Cannot read properties of undefined (reading 'x')", 'x is not a function', 'oops']) {
      expect([text, readThrown(new Error(text)).category]).toEqual([text, 'unknown']);
      expect([text, readThrown(new McpError(-32603, text)).category]).toEqual([text, 'tool_error']);
      expect([text, readReturned({ error: text })?.category]).toEqual([text, 'tool_error']);
    }
  });

  it('O2: a text that quotes the input is an answer, and the quotation is not evidence', () => {
    const input = { query: 'connect ECONNREFUSED 127.0.0.1', user: 'sara_doe_496' };
    expect(readThrown(new Error('sara_doe_496 has an overdue bill'), { input }).category).toBe('tool_error');
    expect(readThrown(new Error('sara_doe_496!'), { input })).toMatchObject({
      category: 'tool_error',
      why: 'it speaks about what the call asked for',
    });
    expect(readThrown(new Error('No results for connect ECONNREFUSED 127.0.0.1'), { input }).category).toBe(
      'tool_error',
    );
    expect(readThrown(new Error('connect ECONNREFUSED 127.0.0.1'), { input: {} }).category).toBe('network');
  });
});

describe('O2: a text that the classifier cannot read, in other languages', () => {
  it.each([
    'Usługa jest chwilowo niedostępna',
    'Połączenie odrzucone przez serwer',
    'Sunucuya bağlanılamadı',
    '서버에 연결할 수 없습니다',
    'Der Tisch ist um 19 Uhr nicht verfügbar',
    'La chambre est indisponible à cette date',
    '余额不足',
    '参数错误',
  ])('O2, O8: %s: is unknown, and says nothing about the tool', (text) => {
    const { category, unexplained } = readThrown(new Error(text), { tool: 'search', input: { query: 'zebra' } });
    expect([category, unexplained]).toEqual(['unknown', undefined]);
  });
});

describe('C14: the failure blames the key or the tool', () => {
  const input = { url: 'https://down.example/x' };
  it('C14: the host that the call chose is blamed, by a code, a status or a cause', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 203.0.113.9:443'), { code: 'ECONNREFUSED' });
    expect(readThrown(new TypeError('fetch failed', { cause: refused }), { kind: 'fetch', input }).blames).toBe('key');
    for (const text of [
      'HTTP 429',
      'HTTP 503',
      'HTTP 403',
      'request timed out',
      'getaddrinfo EAI_AGAIN down.example',
    ]) {
      expect([text, readThrown(new Error(text), { kind: 'fetch', input }).blames]).toEqual([text, 'key']);
    }
    expect(readThrown(new Error('getaddrinfo ENOTFOUND down.example'), { input })).toMatchObject({
      blames: 'key',
      category: 'network',
    });
  });

  it('C14: a page that is missing blames nothing', () => {
    const missing = Object.assign(new Error('x'), { status: 404 });
    expect(readThrown(missing, { tool: 'fetch_page', input })).toMatchObject({
      category: 'tool_error',
      blames: 'tool',
    });
  });

  it("C14: the tool's own server, its own network and its own credentials blame the tool", () => {
    const local = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:3000'), { code: 'ECONNREFUSED' });
    expect(readThrown(local, { kind: 'fetch', input }).blames).toBe('tool');
    for (const text of [
      'net::ERR_INTERNET_DISCONNECTED',
      'connect ENETUNREACH 203.0.113.9:443',
      'MCP error -32000: Connection closed',
      'The browser has disconnected: connection lost',
      'ENOSPC: no space left on device, write',
    ]) {
      expect([text, readThrown(new Error(text), { kind: 'fetch', input }).blames]).toEqual([text, 'tool']);
    }
    expect(readThrown(new Error('HTTP 407'), { kind: 'fetch', input }).blames).toBe('tool'); // Only the tool's own proxy says it.
    expect(readThrown(new Error('HTTP 401'), { tool: 'search', input: { query: 'x' } }).blames).toBe('tool');
    expect(readThrown(new Error('HTTP 401'), { tool: 'create_webhook', input }).blames).toBe('tool');
  });
});

describe('C14: a proxy that is down', () => {
  const on = (url: string, text: string) =>
    readReturned({ error: text }, { tool: 'fetch_page', input: { url } })?.blames;
  it.each([
    ['http://one.test/', 'tool', 'Failed to fetch http://one.test/: getaddrinfo ENOTFOUND proxy.invalid'],
    ['http://one.test/', 'tool', 'Failed to fetch http://one.test/: connect ECONNREFUSED 10.0.0.5:3128'],
    ['http://one.test/', 'tool', 'dial tcp: lookup proxy.invalid on 10.0.0.2:53: no such host'],
    ['http://one.test/', 'tool', "HTTPConnectionPool(host='10.0.0.5', port=3128): [Errno 111] Connection refused"],
    ['http://one.test/', 'tool', 'Cannot connect to Chrome at http://127.0.0.1:9222/json: connection refused'],
    ['http://1.2.3.4/', 'tool', 'connect ECONNREFUSED 1.2.3.5:80'],
    ['http://[2001:db8::1]/', 'tool', 'connect ECONNREFUSED 2001:db8::2:80'],
    ['http://one.test/', 'key', 'getaddrinfo ENOTFOUND one.test'],
    ['http://one.test/', 'key', 'getaddrinfo ENOTFOUND www.ONE.test'],
    ['http://one.test/', 'key', 'connect ECONNREFUSED 93.184.216.34:80'],
    ['https://one.test/', 'key', 'connect ECONNREFUSED 93.184.216.34:443'],
    ['http://one.test:8080/', 'key', 'connect ECONNREFUSED ::1:8080'],
    ['http://[2001:db8::1]/', 'key', 'connect ECONNREFUSED 2001:db8::1:80'],
    ['http://one.test/', 'key', 'Failed to connect to one.test port 80: Connection refused'],
  ])('C14: %s: %s: %s', (url, blames, text) => expect(on(url, text)).toBe(blames));
});

describe('O2: databases', () => {
  it.each([
    ['resource', 'too many connections for role "agent"'],
    ['permission', 'no pg_hba.conf entry for host "127.0.0.1", user "agent", database "shop", no encryption'],
    ['tool_error', 'permission denied for table salaries'],
  ])('O2: %s: %s', (category, text) => {
    for (const error of [new McpError(-32603, text), new Error(text)])
      expect(readThrown(error).category).toBe(category);
  });
});

describe('O2: results that are not marked as errors', () => {
  it('O2: text that begins like an error and continues differently is a success', () => {
    expect(readReturned('TypeError: fetch failed\nECONNREFUSED: what refuses a connection')).toBeUndefined();
    expect(readReturned('TypeError: fetch failed\n    at node:internal/deps/undici')?.category).toBe('network');
  });
});

describe('O2: runners', () => {
  it('O2: a runner that cannot start is an outage, also if the error is returned', () => {
    for (const code of ['ENOENT', 'EACCES']) {
      const result = { isError: true, content: [{ type: 'text', text: `spawn /no/interpreter ${code}` }] };
      expect(readReturned(result, { tool: 'run_code' })).toMatchObject({ category: 'resource', blames: 'tool' });
    }
    const printed = { error: 'Error: spawn /no/program ENOENT\n    at ChildProcess' };
    expect(readReturned(printed, { tool: 'run_code' })?.category).toBe('tool_error');
  });

  it('O2: exit codes of a runner count; the output of the program does not', () => {
    const spawn = Object.assign(new Error('spawn /bin/sh ENOENT'), { code: 'ENOENT', syscall: 'spawn /bin/sh' });
    expect(readThrown(spawn, { tool: 'bash' }).category).toBe('filesystem');
    expect(readThrown(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), { tool: 'run_python' }).category).toBe(
      'network',
    );
    expect(readThrown(new Error('HTTP 503'), { tool: 'run_python' }).category).toBe('tool_error');
    expect(readReturned('Error: connect ECONNREFUSED', { tool: 'execute_code' })).toBeUndefined();
  });
});
