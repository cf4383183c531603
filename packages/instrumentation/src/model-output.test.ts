import { describeFreshness, type FreshnessKind, type FreshnessLabel } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { labelForModel, labelledModelOutput } from './model-output.ts';

const stale: FreshnessLabel = { kind: 'stale', retrievedUnixMs: 0 };
const words = describeFreshness(stale);
const say = labelledModelOutput(({ output }) => ({ type: 'json', value: { said: output as string } }));
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
    const saying = labelledModelOutput(() => ({ type: 'text', value: 'x' }));
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
    const saying = labelledModelOutput(async () => said as never);
    expect(await saying({ ...given, output: labelForModel('found', stale) })).toEqual(expected);
  });
});
