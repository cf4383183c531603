import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { classifyError as CoreError, classifyResult as CoreResult } from './classify.ts';
import { ERROR_CATEGORIES } from './taxonomy.ts';

const fail = (): never => {
  throw new Error('may not be read');
};

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const throwing = new Proxy(
  {},
  {
    get: fail,
    has: fail,
    ownKeys: fail,
    getPrototypeOf: fail,
    getOwnPropertyDescriptor: fail,
  },
);
const endless: object = new Proxy([], { get: (_, key) => (key === 'length' ? Number.MAX_SAFE_INTEGER : fresh()) });
function fresh(): object {
  return new Proxy(function endlessly() {}, { get: () => fresh(), apply: () => fresh() });
}

const NASTY: readonly unknown[] = [
  throwing,
  endless,
  fresh(),
  revoked({}),
  revoked([]),
  revoked(() => 1),
  Object.create(null),
  Object.defineProperty(new Error('x'), 'message', { get: fail }),
  Object.defineProperty({ isError: true }, 'content', { get: fail }),
  { isError: true, content: revoked([]) },
  { isError: true, content: endless },
  { error: throwing },
  { error: revoked({}) },
  { error: endless, success: false },
  { cause: throwing, errors: revoked([]), issues: revoked([]), headers: revoked({}) },
  { headers: { get: fail }, response: throwing },
  { message: 'x'.repeat(1_000_000), name: 'y'.repeat(1_000_000), code: 'z'.repeat(1_000_000) },
  { errors: Array.from({ length: 100_000 }, () => new Error('x')) },
  { code: { toString: fail }, status: { valueOf: fail }, name: 1, message: 2 },
];

/** Objects that look like errors, with anything in the places we read; `depth` levels, or they'd grow without end. */
function errorLike(depth: number): fc.Arbitrary<unknown> {
  const inner = depth > 0 ? errorLike(depth - 1) : fc.anything({ maxDepth: 1 });
  const value = fc.anything({ maxDepth: 1, maxKeys: 3 });
  return fc.record(
    {
      name: fc.oneof(fc.string(), value, fc.constantFrom('TypeError', 'ZodError', 'AbortError')),
      message: fc.oneof(fc.string(), value),
      code: fc.oneof(fc.string(), fc.integer(), value),
      status: value,
      headers: value,
      response: value,
      cause: inner,
      error: fc.oneof(inner, fc.string(), fc.boolean()),
      errors: fc.oneof(fc.array(inner, { maxLength: 3 }), value),
      issues: value,
      isError: fc.boolean(),
      content: fc.oneof(fc.array(fc.record({ type: fc.string(), text: value }), { maxLength: 3 }), value),
      retryAfter: value,
    },
    { requiredKeys: [] },
  );
}

/** As functions: fast-check itself looks into the values that it makes, which some of ours don't survive. */
const nasty = fc.nat(NASTY.length - 1);
const anything = fc.oneof(
  fc
    .anything({ withBoxedValues: true, withDate: true, withMap: true, withNullPrototype: true, withTypedArray: true })
    .map((value) => () => value),
  errorLike(2).map((value) => () => value),
  nasty.map((index) => () => NASTY[index]),
  nasty.map((index) => () => new Error('x', { cause: NASTY[index] })),
  nasty.map((index) => () => new AggregateError([NASTY[index], NASTY[index]])),
  nasty.map((index) => () => ({ error: NASTY[index] })),
);

/** The same for each classifier: core's own, and that of an executor, which also reads texts. */
export const neverThrows = (classifyError: typeof CoreError, classifyResult: typeof CoreResult): unknown =>
  describe('O2, E5: the classifier never throws, and always gives a category', () => {
    const categories: readonly string[] = ERROR_CATEGORIES;

    it('for errors and results', () => {
      fc.assert(
        fc.property(anything, anything, fc.oneof(fc.integer(), fc.double()), (make, makeReason, unixMs) => {
          const value = make();
          const nastySignal = { aborted: true, reason: makeReason() } as unknown as AbortSignal;
          for (const context of [{ unixMs }, { unixMs, signal: nastySignal }]) {
            const error = classifyError(value, context);
            const result = classifyResult(value, context);
            expect(categories).toContain(error.category);
            if (result) expect(categories).toContain(result.category);
            for (const wait of [error.retryAfterMs, result?.retryAfterMs]) {
              if (wait !== undefined) expect(wait).toBeGreaterThanOrEqual(0);
            }
          }
        }),
        { numRuns: 1000 },
      );
    });

    it.each(NASTY.map((value, index) => [index, value] as const))('for nasty object %i, as signal too', (_, value) => {
      expect(categories).toContain(classifyError(value, { unixMs: 0 }).category);
      expect([undefined, ...categories]).toContain(classifyResult(value, { unixMs: 0 })?.category);
      expect(classifyError('x', { unixMs: 0, signal: value as AbortSignal }).category).toBe('unknown');
    });
  });
