import { OTHER_TOOL } from '@breakerbox/core';
import { describe, it } from 'vitest';
import { run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const TOOLS = ['x', 'y', 'z'];

describe.concurrent.each([15, 60])(
  'BreakerboxCorrelatedOpenings does not return once it is over, every %i s',
  (interval) => {
    it('when three tools fail hours later, one by one and with other errors', async () => {
      const one = new SimulatedProcess({ tools: TOOLS });
      await run(
        {
          interval: 60,
          evaluation: interval,
          of: ['CorrelatedOpenings'],
          lasts: 4 * 3600,
          processes: [one],
          second: (now) => {
            if (now === 0) one.begin();
            if (now === 610) for (const tool of TOOLS) one.open(now, tool, 'network');
            if (now === 910) for (const tool of TOOLS) one.probe(tool, 'success');
            if (now === 2 * 3600 + 5) one.open(now, 'x', 'server');
            if (now === 2 * 3600 + 1805) one.open(now, 'y', 'timeout');
            if (now === 3 * 3600 + 5) one.open(now, 'z', 'server');
          },
          firing: [{ alert: 'CorrelatedOpenings', scope: 'agent', after: 610, by: 780, until: 1140, gone: 1500 }],
        },
        1,
      );
    });

    it('with scope fleet too', async () => {
      const agents = ['1', '2', '3'].map((agent) => new SimulatedProcess({ agent }));
      await run(
        {
          interval: 60,
          evaluation: interval,
          of: ['CorrelatedOpenings'],
          lasts: 3 * 3600,
          processes: agents,
          second: (now) => {
            agents.forEach((one, index) => {
              if (now === 0) one.begin();
              if (now === 610) one.open(now, 't', 'network');
              if (now === 910) one.probe('t', 'success');
              if (now === 3600 + index * 1800) one.open(now, 't', 'server');
            });
          },
          firing: [{ alert: 'CorrelatedOpenings', scope: 'fleet', after: 610, by: 780, until: 1140, gone: 1500 }],
        },
        1,
      );
    });

    it('and tools under _OTHER do not hold it', async () => {
      const one = new SimulatedProcess({ tools: [...TOOLS, OTHER_TOOL] });
      await run(
        {
          interval,
          of: ['CorrelatedOpenings'],
          lasts: 2400,
          processes: [one],
          second: (now) => {
            if (now === 0) one.begin();
            if (now === 610) for (const tool of [...TOOLS, OTHER_TOOL]) one.open(now, tool);
            if (now === 910) one.probe('z', 'success');
          },
          firing: [
            {
              alert: 'CorrelatedOpenings',
              scope: 'agent',
              after: 610,
              by: 610 + 2 * interval,
              until: 1200,
              gone: 1400,
            },
          ],
        },
        1,
      );
    });
  },
);
