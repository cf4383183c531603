import { expect, it } from 'vitest';
import { countSeries, SERIES_LIMITS } from './series.ts';

it.each(Object.entries(await countSeries()))('a tool that is %s has %i series, within its limit', (state, counted) => {
  expect(counted).toBeGreaterThan(0);
  expect(counted).toBeLessThanOrEqual(SERIES_LIMITS[state as keyof typeof SERIES_LIMITS]);
});
