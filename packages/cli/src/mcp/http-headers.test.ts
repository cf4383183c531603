import { describe, expect, test } from 'vitest';
import { declaredHeaders, statelessHeaders } from './http-headers.ts';
import { readLine } from './rpc-message.ts';
import { SseReader } from './sse-reader.ts';

const call = (params: object) => {
  const [message] = readLine(Buffer.from(JSON.stringify({ id: 1, method: 'tools/call', params })))?.messages ?? [];
  if (message === undefined) throw new Error('The message was not read');
  return message;
};

describe('headers of the stateless protocol', () => {
  test('M1: the method, the name and the declared arguments', () => {
    const declared = declaredHeaders({
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: { properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
        absent: { type: 'boolean', 'x-mcp-header': 'Absent' },
      },
    });
    const message = call({ name: 'find', arguments: { region: 'Zürich', deep: { count: 3 } } });
    expect(statelessHeaders(message, '2026-07-28', declared)).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'find',
      'mcp-param-Region': `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
      'mcp-param-Count': '3',
    });
  });

  test.each([
    [{ type: 'string', 'x-mcp-header': 'not a token\r\n' }],
    [{ type: 'string', 'x-mcp-header': '' }],
    [{ type: 'string', 'x-mcp-header': 1 }],
    [{ type: 'number', 'x-mcp-header': 'Score' }],
    [{ 'x-mcp-header': 'Any' }],
    [{ type: 'string', 'x-mcp-header': 'REGION' }],
  ])('M1: a tool that declares %j may not be called', (wrong) => {
    const region = { type: 'string', 'x-mcp-header': 'Region' };
    expect(declaredHeaders({ properties: { region, wrong } })).toBeUndefined();
  });

  test.each([
    [{ 'x-mcp-header': 'Root', properties: {} }],
    [{ properties: { list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } } } }],
    [{ properties: { one: { anyOf: [{ type: 'null' }, { type: 'string', 'x-mcp-header': 'One' }] } } }],
    [{ properties: {}, $defs: { id: { type: 'string', 'x-mcp-header': 'Id' } } }],
    [{ properties: { o: { additionalProperties: { properties: { x: { type: 'string', 'x-mcp-header': 'X' } } } } } }],
  ])('M1: a header may be declared for properties only, and not as in %j', (schema) => {
    expect(declaredHeaders(schema)).toBeUndefined();
  });

  test('M1: a property with the name of a keyword, and a default, are no declarations elsewhere', () => {
    const items = { type: 'string', 'x-mcp-header': 'Items', default: { 'x-mcp-header': 1 } };
    expect(declaredHeaders({ properties: { items } })).toMatchObject([{ name: 'Items', path: ['items'] }]);
  });

  test.each(['a\r\nX: y', ' a', 'a ', '', '=?base64?x?='])('M1: the name %j is sent in Base64', (name) => {
    const { 'mcp-name': sent } = statelessHeaders(call({ name }), '2026-07-28');
    expect(sent).toBe(`=?base64?${Buffer.from(name).toString('base64')}?=`);
  });
});

test('M2: a stream of events may be cut anywhere, and its lines may end with CRLF', () => {
  const stream = Buffer.from(
    ': comment\r\nid: 1\r\nretry: 50\r\ndata: {"a":\r\ndata:"€"}\r\n\r\nevent: other\ndata\n\ndata: cut off',
  );
  const reader = new SseReader();
  const events = [...stream].flatMap((byte) => reader.push(Buffer.from([byte])));
  expect(events.map(({ data, type }) => [type, data.toString()])).toEqual([
    ['message', '{"a":\n"€"}\n'],
    ['other', '\n'],
  ]);
  expect([events[0]?.lastEventId, reader.retryMs]).toEqual(['1', 50]);
});

test('M1: a stream is resumed after its last whole event', () => {
  const reader = new SseReader();
  const events = reader.push(Buffer.from('id: 1\ndata: {}\n\nid: 2\ndata: cut'));
  expect(events.map(({ lastEventId }) => lastEventId)).toEqual(['1']);
});
