import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { categoryOf, NOW, thrownBy } from '../../test-support/classify/failing.ts';
import { classifyError, classifyResult } from '../../test-support/classify/verdicts.ts';

const trip = z.object({
  from: z.string().min(3),
  stops: z.array(z.object({ city: z.string(), nights: z.number().int().positive() })),
  pay: z.discriminatedUnion('by', [
    z.object({ by: z.literal('card'), number: z.string() }),
    z.object({ by: z.literal('cash') }),
  ]),
});

const WRONG: readonly (readonly [string, unknown])[] = [
  ['nothing at all', undefined],
  ['a wrong type', { from: 7, stops: [], pay: { by: 'cash' } }],
  ['nested, in a list', { from: 'Graz', stops: [{ city: 'Linz', nights: 0.5 }], pay: { by: 'cash' } }],
  ['a union', { from: 'Graz', stops: [], pay: { by: 'shells' } }],
  ['data that reads like an outage', { from: 'ECONNREFUSED 503', stops: 'rate limit exceeded', pay: { by: 'cash' } }],
];

describe('O2: real validation errors of zod', () => {
  it.each(WRONG)('O2: parse, parseAsync and safeParse: %s', async (_, input) => {
    expect(await categoryOf(() => trip.parse(input))).toBe('invalid_input');
    expect(await categoryOf(() => trip.parseAsync(input))).toBe('invalid_input');
    expect(classifyResult(trip.safeParse(input), NOW)).toEqual({ category: 'invalid_input' });
  });

  it('O2: an asynchronous refinement, a transform, a codec', async () => {
    const taken = z.string().refine(async (name) => name !== 'taken', 'That name is taken');
    expect(await categoryOf(() => taken.parseAsync('taken'))).toBe('invalid_input');
    const number = z.string().transform((text, context) => {
      context.addIssue({ code: 'custom', message: 'no number' });
      return text;
    });
    expect(await categoryOf(() => number.parse('x'))).toBe('invalid_input');
    expect(await categoryOf(() => z.decode(z.stringbool(), 'perhaps'))).toBe('invalid_input');
    expect(await categoryOf(() => z.function({ input: [z.number()] }).implement((n) => n)('x' as never))).toBe(
      'invalid_input',
    );
  });

  it('O2: zod/mini, and an error that wraps a validation error', async () => {
    expect(await categoryOf(() => mini.parse(mini.object({ city: mini.string() }), { city: 3 }))).toBe('invalid_input');
    const rejection = await thrownBy(() => trip.parse({}));
    expect(classifyError(new Error('The arguments of book_trip are wrong', { cause: rejection }), NOW).category).toBe(
      'invalid_input',
    );
    expect(classifyError(new AggregateError([rejection, rejection]), NOW).category).toBe('invalid_input');
  });

  it('O2: an outage inside a refinement is an outage', async () => {
    const known = z.string().refine(async () => {
      throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
    });
    expect(await categoryOf(() => known.parseAsync('Graz'))).toBe('network');
  });

  it('O2: a value that a schema accepted is a success', () => {
    const right = { from: 'Graz', stops: [], pay: { by: 'cash' } };
    expect(classifyResult(trip.safeParse(right), NOW)).toBeUndefined();
  });
});

describe('O2: validation errors of the language', () => {
  it('O2: an invalid URL', async () => {
    expect(await categoryOf(() => new URL('nonsense'))).toBe('invalid_input');
  });

  it("O2: a bug in the tool's own code is unknown, and so a failure", async () => {
    expect(await categoryOf(() => (undefined as unknown as { city: string }).city)).toBe('unknown');
    expect(await categoryOf(() => JSON.parse('{'))).toBe('unknown');
    expect(await categoryOf(() => new Array(-1))).toBe('unknown');
    const deep = (): number => 1 + deep();
    expect(await categoryOf(deep)).toBe('unknown');
    expect(await categoryOf(() => Promise.reject())).toBe('unknown');
  });
});
