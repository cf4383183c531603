import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish, happen, newWorld } from './drive.ts';
import { configs, floods, happenings, largeBudgets } from './happenings.ts';
import { modelMetrics } from './model-view.ts';

/** What the issue asks of each run; a failing one prints the seed and path that bring it back. */
const CASES = 10_000;

/** What cases must come to, or they prove nothing: so many times at least in 10,000. */
const REACHED: Readonly<Record<string, number>> = {
  'decisions closed': 10_000,
  'decisions undeclared': 1_000,
  'decisions no_circuit': 500,
  'decisions session_ended': 500,
  'decisions disabled': 500,
  'decisions would_skip': 500,
  'decisions would_pause': 500,
  'decisions probe_due': 1_000,
  'decisions open': 1_000,
  'decisions probe_in_flight': 200,
  'decisions forced_open': 500,
  'decisions not_allowed': 500,
  'decisions unavailable': 200,
  'decisions repeat': 500,
  'decisions budget_exhausted': 1_000,
  'decisions systemic': 1_000,
  'transitions half_open>open': 500,
  'transitions half_open>closed': 100,
  'outcomes timeout': 200, // Hung probes (C9).
  'prechecks degraded': 100,
  'systemicEvents network': 200,
  'systemicEvents _MIXED': 20,
  budgetExhaustions: 500,
};

/** The kind of a metric's series, whatever its tool. */
const kindOf = (key: string): string => {
  const [metric, , ...values] = key.split('|');
  if (metric === 'decisions') return `decisions ${values[1]}`;
  if (metric === 'prechecks') return `prechecks ${values[0]}`;
  if (metric === 'outcomes') return `outcomes ${values[1] ?? values[0]}`;
  if (metric === 'transitions') return `transitions ${values.join('>')}`;
  return key.replace('|', ' ');
};

describe('proof: the engine does what the model of behaviour.md does', { timeout: 180_000 }, () => {
  test(`whatever happens, in ${CASES} random cases`, () => {
    let happened = 0;
    let cases = 0;
    const reached: Record<string, number> = {};
    fc.assert(
      fc.property(configs, happenings, (config, all) => {
        const world = newWorld(config);
        for (const one of all) happen(world, one);
        finish(world);
        cases += 1;
        happened += all.length;
        for (const [key, value] of Object.entries(modelMetrics(world.model, 0))) {
          reached[kindOf(key)] = (reached[kindOf(key)] ?? 0) + value;
        }
      }),
      { numRuns: CASES },
    );
    process.stdout.write(`model: ${cases} cases with ${happened} happenings agree with the engine\n`);
    for (const [what, atLeast] of Object.entries(REACHED)) {
      expect(reached[what] ?? 0, `times that cases came to '${what}'`).toBeGreaterThanOrEqual(atLeast);
    }
  });

  test('B1, S3: and of large budgets, with more failures than are kept one by one', () => {
    let events = 0;
    fc.assert(
      fc.property(largeBudgets, floods, (config, all) => {
        const world = newWorld(config);
        for (const one of all) happen(world, one);
        finish(world);
        events += modelMetrics(world.model, 0)['systemicEvents|network'] ?? 0;
      }),
      { numRuns: 200 },
    );
    // Sixty runs of 100 cases came to 23 on average, 12 at least: far enough below that luck fails no build.
    expect(events).toBeGreaterThanOrEqual(10);
  });
});
