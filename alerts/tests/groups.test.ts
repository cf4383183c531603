import { METRIC } from '@breakerbox/core';
import { describe, it } from 'vitest';
import { run, wanted } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const FILES = ['read', 'write', 'list'];
const GROUP = 'group:files';

const withGroup = (...others: readonly string[]): SimulatedProcess[] => [
  new SimulatedProcess({ tools: [...FILES, ...others, GROUP] }),
];

describe.concurrent.each(wanted(15, 60))('a group, every %i s', (interval) => {
  const of = ['CorrelatedOpenings'];

  it('hides no tool that fails often, if it opens and closes at once', () => {
    const firing = [{ alert: 'ToolErrorRateHigh', after: 600, by: 960 }];
    const scenario = { interval, of: ['ToolErrorRateHigh'], lasts: 3600, processes: withGroup(), firing };
    return run(scenario, (now, one) => {
      if (now % 10 === 0) one.call('read', now % 20 === 0 ? 'server' : 'success');
      // Every twenty minutes the circuit of the group is open for one minute.
      if (now % 1200 === 605) one.openGroup(now, GROUP, []);
      if (now % 1200 === 630) one.skip('read', 3, 'group_open');
      if (now % 1200 === 665) one.probeGroup(GROUP, 'read', 'success');
    });
  });

  it.each([
    ['and the series ends', undefined, false],
    ['and 0', 0, false],
    ['and the series ends, and the process restarts', undefined, true],
  ] as const)(
    'counts as one opening for BreakerboxCorrelatedOpenings; the opening of its tool is taken back, %s',
    (_, withdrawn, restarts) =>
      run({ interval, of, lasts: 1800, processes: withGroup('search') }, (now, one) => {
        // Prometheus has already scraped the opening of the tool.
        if (now === 605) one.open(now, 'read');
        if (now === 665) one.openGroup(now, GROUP, ['read'], 'network', withdrawn);
        if (now === 700) one.open(now, 'search');
        if (restarts && now === 790) one.start();
        if (restarts && now === 791) one.begin();
      }),
  );

  it('counts together with two tools outside the group', () => {
    const firing = [{ alert: 'CorrelatedOpenings', scope: 'agent', after: 665, by: 665 + 2 * interval }];
    return run({ interval, of, lasts: 900, processes: withGroup('search', 'fetch'), firing }, (now, one) => {
      if (now === 605) one.open(now, 'read');
      if (now === 640) one.openGroup(now, GROUP, ['read']);
      if (now === 660) one.open(now, 'search');
      if (now === 665) one.open(now, 'fetch');
    });
  });

  it('counts a tool again that opens by itself after its opening was taken back', () => {
    const firing = [{ alert: 'CorrelatedOpenings', scope: 'agent', after: 820, by: 820 + 2 * interval }];
    return run({ interval, of, lasts: 1200, processes: withGroup('search', 'fetch'), firing }, (now, one) => {
      if (now === 605) one.open(now, 'read', 'timeout');
      if (now === 640) one.openGroup(now, GROUP, ['read'], 'timeout');
      if (now === 760) one.probeGroup(GROUP, 'read', 'success');
      for (const [index, tool] of ['read', 'search', 'fetch'].entries())
        if (now === 800 + 10 * index) one.open(now, tool, 'server');
    });
  });
});

it.concurrent(`${METRIC.openedTime.prometheus} of 0 is not an opening, even if other circuits are open`, () =>
  run({ interval: 60, of: ['CorrelatedOpenings'], lasts: 900, processes: withGroup() }, (now, one) => {
    for (const tool of FILES) if (now === 10) one.open(0, tool);
  }));
