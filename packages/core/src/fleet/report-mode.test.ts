import { expect, test } from 'vitest';
import { METRIC } from '../index.ts';
import { openSeries } from '../internal.ts';
import { oneProcess } from './test-support.fleet.ts';

const valuesOf = (agent: string, metric: 'fleetUp' | 'fleetReadTime' | 'fleetIgnored') => {
  const series = openSeries({ insteadOfSdk: false, exemplars: false });
  const found = [...series.numbers(METRIC[metric])].filter(
    ({ attributes }) => attributes['gen_ai.agent.name'] === agent,
  );
  series.close();
  return found.map(({ value }) => value);
};

test('G7: the mode is a gauge, and an event when it changes', () => {
  const agent = 'agent of a fleet';
  const { box, circuits } = oneProcess({ agent });
  const told: string[] = [];
  box.on('fleet.degraded', ({ why, session }) => told.push(`degraded ${why} ${session}`));
  box.on('fleet.restored', ({ why }) => told.push(`restored ${why}`));
  expect(valuesOf(agent, 'fleetUp')).toEqual([]);
  circuits.reportMode('up');
  expect(valuesOf(agent, 'fleetUp')).toEqual([1]);
  circuits.reportMode('degraded', 'timeout');
  circuits.reportMode('degraded', 'timeout');
  expect(valuesOf(agent, 'fleetUp')).toEqual([0]);
  circuits.reportMode('up');
  expect(valuesOf(agent, 'fleetUp')).toEqual([1]);
  expect(told).toEqual(['degraded timeout undefined', 'restored undefined']);
  circuits.heard();
  expect(valuesOf(agent, 'fleetReadTime')).toEqual([1_700_001_000]);
});

test('G11: ignored records are a counter, made with the first one', () => {
  const agent = 'agent with garbage';
  const { circuits } = oneProcess({ agent });
  expect(valuesOf(agent, 'fleetIgnored')).toEqual([]);
  circuits.ignored(2);
  circuits.ignored(1);
  expect(valuesOf(agent, 'fleetIgnored')).toEqual([3]);
});
