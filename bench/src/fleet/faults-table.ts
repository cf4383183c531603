import { FAULTS } from '../../../test/fleet/faults.ts';
import type { Figures } from '../../../test/fleet/run-fault.ts';
import { runFault } from '../../../test/fleet/run-fault.ts';
import { runStoppedProber, runThresholds } from '../../../test/fleet/scenarios.ts';

const ms = (value: number): string => value.toFixed(0);

/** The heads of the columns, in the order of {@link cellsOf}. */
export const HEAD = [
  'What happens to Redis, with a dead tool and five processes',
  'calls to open',
  'in flight',
  'agree after, ms',
  'probes a round',
  'other calls',
  'call again within, ms',
  'decision p99, ms',
  'longest, ms',
  'healthy rejected',
  'written twice',
] as const;

/** The figures of a scenario as cells. */
export const cellsOf = (figures: Figures): readonly string[] => [
  figures.title,
  `${figures.opening.calls}`,
  `${figures.opening.inFlight}`,
  ms(figures.convergedMs),
  `${figures.probes.perRound}`,
  `${figures.probes.others}`,
  ms(figures.recoveredMs),
  figures.p99AcquireMs.toFixed(2),
  figures.longestAcquireMs.toFixed(1),
  `${figures.healthyRejected}`,
  `${figures.writtenTwice}`,
];

/** All scenarios by name. */
export const SCENARIOS: Readonly<Record<string, () => Promise<Figures>>> = {
  ...Object.fromEntries(
    Object.entries(FAULTS).map(([name, fault]) => [name, () => runFault(fault, { measureHealthy: name === 'none' })]),
  ),
  'stopped-prober': runStoppedProber,
  thresholds: runThresholds,
};
