import { describe, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { instances, SimulatedProcess } from './process.ts';

const alert = 'FleetDegraded';

describe.concurrent.each(INTERVALS)('BreakerboxFleetDegraded, every %i s', (interval) => {
  const of = among(interval, alert);

  it('G7: fires when the store has not answered a process for 5 minutes, and resolves at its next answer', () => {
    const processes = instances(['lost', 'fine'], { fleet: true });
    const firing = [{ alert, after: 900 - interval, by: 900 + 2 * interval, until: 1499, gone: 1500 + 2 * interval }];
    return run({ interval, of, lasts: 1800, processes, firing }, (now, lost) => {
      if (now === 600) lost.store('degraded');
      if (now === 1500) lost.store('up');
    });
  });

  it('is silent about a failover of two minutes, processes that end or start without the store, and agents without a fleet', () => {
    const processes = [
      ...instances(['failover', 'ends', 'starts'], { fleet: true }),
      new SimulatedProcess({ agent: 'alone' }),
    ];
    processes[2]?.stop();
    const missed = (now: number) => now === 660;
    return run({ interval, of, lasts: 1140, processes, missed }, (now, failover, ends, starts) => {
      if (now === 600) for (const one of [failover, ends]) one?.store('degraded');
      if (now === 720) failover?.store('up');
      if (now === 720) ends?.stop();
      if (now === 900) starts?.start();
      if (now === 900) starts?.store('degraded');
    });
  });
});

describe.concurrent.each(wanted(15, 60))('BreakerboxFleetDegraded, evaluated every %i s', (interval) => {
  it('is silent about processes that lose the store one after the other, none of them for 5 minutes', () => {
    const processes = instances(['1', '2', '3'], { fleet: true });
    return run({ interval, of: among(interval, alert), lasts: 1500, processes }, (now, ...all) => {
      for (const [index, one] of all.entries()) {
        if (now === 300 + index * 240) one.store('degraded');
        if (now === 540 + index * 240) one.store('up');
      }
    });
  });
});

it.concurrent('BreakerboxFleetDegraded counts the processes of each agent', () => {
  const processes = [...instances(['1', '2', '3'], { fleet: true }), ...instances(['4'], { fleet: true, agent: 'b' })];
  const says = {
    at: 1200,
    alert: 'FleetDegraded',
    labels: { job: 'fleet', gen_ai_agent_name: 'a', severity: 'warning' },
    summary: 'a: 2 processes cannot reach the store of their shared circuits',
    description:
      'The store (Redis) has not answered 2 processes of agent a (job fleet) for 5 minutes. No call waits for it. Such a process decides by its own circuits: it finds out by its own calls that a tool has failed, and sends its own probes. Actions of operators for the whole fleet do not reach it. Check the store and the way to it. For the reason, on the machine of the agent: breakerbox ctl list.',
    dashboard: '/d/breakerbox-correlated-failures?var-job=fleet&var-agent=a',
    began: '',
    first: 'Jan 1 00:15 UTC',
  };
  const firing = [{ alert, after: 890, by: 960 }];
  return run({ interval: 60, of: [alert], lasts: 1200, processes, firing, says: [says] }, (now, one, two) => {
    if (now === 600) for (const each of [one, two]) each?.store('degraded');
  });
});
