import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Alternative, DEGRADATIONS } from './capability.ts';
import { routeOf } from './route.ts';

const always = () => true;
const never = () => false;

describe('the route', () => {
  test('R2: low degradation comes before high, and high before unknown', () => {
    const alternatives: Alternative[] = [
      { tool: 'u' },
      { tool: 'h', degradation: 'high' },
      { tool: 'l', degradation: 'low' },
    ];
    const first = (usable: (tool: string) => boolean) => routeOf({ alternatives, fallback: 'ask' }, usable);
    expect(first(always)).toMatchObject({ kind: 'alternative', tool: 'l', degradation: 'low' });
    expect(first((tool) => tool !== 'l')).toMatchObject({ kind: 'alternative', tool: 'h', degradation: 'high' });
    expect(first((tool) => tool === 'u')).toMatchObject({ kind: 'alternative', tool: 'u', degradation: 'unknown' });
  });

  test('R2: among equals the first one is chosen', () => {
    const alternatives: Alternative[] = [{ tool: 'x' }, { tool: 'y', degradation: 'unknown' }];
    expect(routeOf({ alternatives }, always)).toMatchObject({ tool: 'x' });
  });

  test('R2: then comes the manual fallback, then defer', () => {
    expect(routeOf({ alternatives: [{ tool: 'x' }], fallback: 'ask' }, never)).toEqual({
      kind: 'manual',
      fallback: 'ask',
    });
    expect(routeOf({ alternatives: [{ tool: 'x' }] }, never)).toEqual({ kind: 'defer' });
    expect(routeOf({}, always)).toEqual({ kind: 'defer' });
  });

  test("R1, R4: the route carries the map's settings of the alternative", () => {
    const adapt = (input: unknown) => input;
    const full: Alternative = { tool: 'x', method: 'so', degradation: 'high', note: 'less', adapt };
    expect(routeOf({ alternatives: [full] }, always)).toEqual({ kind: 'alternative', ...full });
    expect(routeOf({ alternatives: [{ tool: 'x' }] }, always)).toEqual({
      kind: 'alternative',
      tool: 'x',
      method: undefined,
      degradation: 'unknown',
      note: undefined,
      adapt: undefined,
    });
  });

  test('R2: the route is never an unusable alternative, nor one worse than another usable one', () => {
    const one = fc.record({
      tool: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      degradation: fc.constantFrom(undefined, ...DEGRADATIONS),
      usable: fc.boolean(),
    });
    const all = fc.uniqueArray(one, { selector: ({ tool }) => tool });
    fc.assert(
      fc.property(all, fc.option(fc.constant('ask'), { nil: undefined }), (given, fallback) => {
        const alternatives = given.map(({ tool, degradation }) =>
          degradation === undefined ? { tool } : { tool, degradation },
        );
        const usable = (tool: string) => given.some((other) => other.tool === tool && other.usable);
        const route = routeOf(fallback === undefined ? { alternatives } : { alternatives, fallback }, usable);
        const ranks = given
          .filter((other) => other.usable)
          .map(({ degradation }) => DEGRADATIONS.indexOf(degradation ?? 'unknown'));
        if (route.kind === 'alternative') {
          expect(usable(route.tool)).toBe(true);
          expect(DEGRADATIONS.indexOf(route.degradation)).toBe(Math.min(...ranks));
        } else {
          expect(ranks).toEqual([]);
          expect(route.kind).toBe(fallback === undefined ? 'defer' : 'manual');
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
