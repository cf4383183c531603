import { METRIC } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { familyName } from './otlp-translation.ts';

describe('the Prometheus name', () => {
  test.each(Object.values(METRIC).map((metric) => [metric.prometheus, metric] as const))(
    'is %s in the specification too',
    (name, { name: otel, unit, kind }) => {
      expect(familyName(otel, unit, kind === 'updowncounter' ? 'gauge' : kind)).toBe(name);
    },
  );

  test('is not guessed for an unknown unit', () => {
    expect(() => familyName('a', 'KiBy/s', 'gauge')).toThrow(/unit "KiBy\/s".*UNITS/);
  });
});
