import { describeFreshness, type FreshnessKind, type FreshnessLabel } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { withAdvice } from './advice.ts';
import { labelForModel, modelOutputOf } from './model-output.ts';
import { NodeResponse } from './test-support/node-response.ts';

const stale: FreshnessLabel = { kind: 'stale', retrievedUnixMs: 0 };
const words = describeFreshness(stale);
const say = modelOutputOf(({ output }) => ({ type: 'json', value: { said: output as string } }));
const given = { toolCallId: 'call-1', input: {} };

describe('F1, F2: toModelOutput of a labelled result', () => {
  const results: [string, unknown][] = [
    ['a text', 'found'],
    ['an empty text', ''],
    ['a text of several lines', '[not a label]\nfound\n'],
    ['a number', 0],
    ['null', null],
    ['a list', [1, 2]],
    ['an object', { hits: [1] }],
    ['an object with a result', { result: [1] }],
    ['an object with a result and more', { result: [1], more: true }],
    ['an object with a freshness', { freshness: 'high' }],
    ['an MCP result', { content: [{ type: 'text', text: 'found' }] }],
  ];
  const kinds: FreshnessKind[] = ['stale', 'cached', 'unverified', 'freshness_unknown'];

  test.each(results)('%s: is the output for the result alone, and the label', async (_, result) => {
    for (const kind of kinds) {
      for (const retrievedUnixMs of [undefined, 1e12]) {
        const label = { kind, retrievedUnixMs };
        const output = JSON.parse(JSON.stringify(labelForModel(result, label)));
        const value = { said: result, freshness: describeFreshness(label) };
        expect(await say({ ...given, output })).toEqual({ type: 'json', value });
      }
    }
  });

  test.each(results)('%s without a label is not changed', (_, output) => {
    expect(say({ ...given, output })).toEqual({ type: 'json', value: { said: output } });
  });

  test('a result that throws when it is read stays in one piece', async () => {
    const trap = () => {
      throw new Error('do not look at me');
    };
    const hostile = new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap });
    const output = labelForModel(hostile, stale) as { result: unknown; freshness: string };
    expect([output.result === hostile, output.freshness]).toEqual([true, words]);
    const saying = modelOutputOf(() => ({ type: 'text', value: 'x' }));
    expect(saying({ ...given, output: hostile })).toEqual({ type: 'text', value: 'x' });
  });

  test.each<[object, object]>([
    [
      { type: 'text', value: 'x' },
      { type: 'text', value: `[${words}]\nx` },
    ],
    [
      { type: 'error-text', value: 'x' },
      { type: 'error-text', value: `[${words}]\nx` },
    ],
    [
      { type: 'error-json', value: [1] },
      { type: 'error-json', value: { result: [1], freshness: words } },
    ],
    [
      { type: 'content', value: [{ type: 'text', text: 'x' }] },
      {
        type: 'content',
        value: [
          { type: 'text', text: `[${words}]` },
          { type: 'text', text: 'x' },
        ],
      },
    ],
    [{ type: 'execution-denied' }, { type: 'execution-denied' }],
  ])('with the output %o', async (said, expected) => {
    const saying = modelOutputOf(async () => said as never);
    expect(await saying({ ...given, output: labelForModel('found', stale) })).toEqual(expected);
  });
});

describe('R5: toModelOutput of a result with advice', () => {
  const advice = '<breakerbox>Do not call it now.</breakerbox>';
  const outOf = (result: unknown, made: (output: { status: number }) => unknown = ({ status }) => `HTTP ${status}`) =>
    modelOutputOf(({ output }) => ({ type: 'text', value: made(output as never) }) as never)({
      ...given,
      output: withAdvice(result, 'Do not call it now.'),
    });

  class Refusal {
    ok = false;
    status = 503;
  }

  test.each<[string, unknown]>([
    ['a plain object', { ok: false, status: 503 }],
    ['an object of a class', new Refusal()],
    ['a Response', new Response('down', { status: 503 })],
    ['a frozen Response', Object.freeze(new NodeResponse('down', { status: 503 }))],
    ['an error', Object.assign(new Error('down'), { status: 503 })],
    ['an object with a text', { status: 503, error: { message: 'down' } }],
    ['an MCP result', { status: 503, isError: true, content: [{ type: 'text', text: 'down' }] }],
  ])('that reads only the fields of %s: the advice follows', (_, result) => {
    expect(outOf(result)).toEqual({ type: 'text', value: `HTTP 503\n${advice}` });
  });

  test('R5: advice that it gave is not given twice', () => {
    expect(outOf({ error: 'down' }, (output) => JSON.stringify(output))).toEqual({
      type: 'text',
      value: expect.stringMatching(/^(?:(?!<breakerbox>).)*\n<breakerbox>.*$/s),
    });
    expect(outOf('down', (output) => output)).toEqual({ type: 'text', value: `down\n${advice}` });
  });

  test.each<[object, object]>([
    [
      { type: 'json', value: 5 },
      { type: 'json', value: { result: 5, advice } },
    ],
    [
      { type: 'error-json', value: { error: 'x' } },
      { type: 'error-json', value: { error: `x\n${advice}` } },
    ],
    [
      { type: 'content', value: [] },
      { type: 'content', value: [{ type: 'text', text: advice }] },
    ],
    [{ type: 'execution-denied' }, { type: 'execution-denied' }],
  ])('every kind of output', async (made, expected) => {
    const output = withAdvice({ ok: false }, 'Do not call it now.');
    expect(await modelOutputOf(async () => made as never)({ ...given, output })).toEqual(expected);
  });

  test('AI SDK 5 and Mastra give the result alone, and AI SDK 5 awaits nothing', () => {
    const alone = modelOutputOf(((output: { status: number }) => ({
      type: 'text',
      value: `${output.status}`,
    })) as never);
    expect(alone(withAdvice({ status: 503 }, 'Do not call it now.') as never)).toEqual({
      type: 'text',
      value: `503\n${advice}`,
    });
    expect(alone(labelForModel({ status: 200 }, stale) as never)).toEqual({ type: 'text', value: `[${words}]\n200` });
  });
});
