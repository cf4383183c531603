import { OTHER_TOOL } from '@breakerbox/core';
import { describe, it } from 'vitest';
import { run, wanted } from './bench.ts';
import { agents, SimulatedProcess } from './process.ts';

const TOOLS = ['x', 'y', 'z'];
const alert = 'CorrelatedOpenings';

describe.concurrent.each(wanted(15, 60))(
  'BreakerboxCorrelatedOpenings does not return once it is over, every %i s',
  (evaluation) => {
    const scenario = { interval: 60, evaluation, of: [alert], orders: 1 };
    const once = { alert, after: 610, by: 780, until: 1140, gone: 1500 };

    it('when three tools fail hours later, one by one and with other errors', () => {
      const processes = [new SimulatedProcess({ tools: TOOLS })];
      const firing = [{ ...once, scope: 'agent' }];
      return run({ ...scenario, lasts: 4 * 3600, processes, firing }, (now, one) => {
        if (now === 610) for (const tool of TOOLS) one.open(now, tool, 'network');
        if (now === 910) for (const tool of TOOLS) one.probe(tool, 'success');
        if (now === 2 * 3600 + 5) one.open(now, 'x', 'server');
        if (now === 2 * 3600 + 1805) one.open(now, 'y', 'timeout');
        if (now === 3 * 3600 + 5) one.open(now, 'z', 'server');
      });
    });

    it('with scope fleet too', () => {
      const firing = [{ ...once, scope: 'fleet' }];
      return run({ ...scenario, lasts: 3 * 3600, processes: agents(['1', '2', '3']), firing }, (now, ...processes) => {
        for (const [index, one] of processes.entries()) {
          if (now === 610) one.open(now, 't', 'network');
          if (now === 910) one.probe('t', 'success');
          if (now === 3600 + index * 1800) one.open(now, 't', 'server');
        }
      });
    });

    it('and tools under _OTHER do not hold it', () => {
      const tools = [...TOOLS, OTHER_TOOL];
      const processes = [new SimulatedProcess({ tools })];
      const firing = [{ alert, scope: 'agent', after: 610, by: 610 + 2 * evaluation, until: 1200, gone: 1400 }];
      return run({ ...scenario, interval: evaluation, lasts: 2400, processes, firing }, (now, one) => {
        if (now === 610) for (const tool of tools) one.open(now, tool);
        if (now === 910) one.probe('z', 'success');
      });
    });
  },
);
