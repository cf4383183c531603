import { describe, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { agents, SimulatedProcess } from './process.ts';

describe.concurrent.each(INTERVALS)('BreakerboxProbeStarved, every %i s', (interval) => {
  const of = among(interval, 'ProbeStarved');
  /** A tool that is open for so long also fires BreakerboxCircuitOpen. */
  const alsoOpen = (times: { readonly until?: number; readonly gone?: number } = {}) =>
    of === undefined ? [{ alert: 'CircuitOpen', after: 360, by: 435 + 2 * interval, ...times }] : [];

  it('fires after 10 minutes of skips without a probe, says which tool, and resolves at the first probe', () => {
    const alert = 'ProbeStarved';
    const firing = [
      { alert, after: 660, by: 660 + 2 * interval, until: 899, gone: 900 + 2 * interval },
      ...alsoOpen({ until: 899, gone: 975 + 2 * interval }),
    ];
    const says = {
      at: 840,
      alert: 'ProbeStarved',
      labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
      summary: 'a: t is open and not probed (network)',
      description:
        'Tool t of agent a (job fleet): 1 circuit has been open for 10 minutes. The agent asks for the tool, but its calls are skipped and none runs as a probe. The service did not ask for this wait. Without a probe, Breakerbox cannot see that the tool works again. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
      dashboard: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
      began: 'Jan 1 00:01 UTC',
    };
    const missed = (now: number) => now === 780;
    return run({ interval, of, lasts: 1200, missed, firing, says: [says] }, (now, one) => {
      if (now === 60) one.open(now, 't');
      if (now > 60 && now < 900 && now % 20 === 0) one.skip('t');
      if (now === 900) one.probe('t', 'success');
    });
  });

  it('is silent when a probe fails now and then, for an hour', () =>
    run({ interval, of, lasts: interval === 1 ? 1500 : 3600, firing: alsoOpen() }, (now, one) => {
      if (now === 60) one.open(now, 't');
      if (now > 60 && now % 20 === 0) one.skip('t');
      if (now > 60 && now % 300 === 0) one.probe('t', 'network');
    }));

  it('is silent when the agent stops asking for the tool, after a few skips at the beginning', () =>
    run({ interval, of, lasts: 1500, firing: alsoOpen() }, (now, one) => {
      if (now === 60) one.open(now, 't');
      if (now > 60 && now < 200 && now % 20 === 0) one.skip('t');
    }));
});

describe.concurrent.each(wanted(15, 60))('BreakerboxProbeStarved, every %i s', (interval) => {
  const of = ['ProbeStarved'];

  it('O3: is silent while the service asked to wait, and fires when no probe follows', () => {
    const firing = [{ alert: 'ProbeStarved', after: 1800, by: 1920 + 2 * interval }];
    return run({ interval, of, lasts: 2400, firing }, (now, one) => {
      if (now === 60) one.open(now, 't');
      if (now === 60) one.asksToWait('t', 1560);
      if (now > 60 && now % 20 === 0) one.skip('t');
    });
  });

  it('is silent about a tool that is forced open, one that short sessions find dead, and other reasons for skips', () => {
    const processes = agents(['forced', 'short', 'others']);
    return run({ interval, of, lasts: 1800, processes }, (now, forced, short, others) => {
      if (now === 5) forced.move('t', 'closed', 'forced_open');
      if (now % 20 === 0) for (const one of [forced, short]) one.skip('t');
      // Sessions overlap, so that a circuit is always open, and no session lives until its first probe.
      if (now > 0 && now % 30 === 0) {
        if (now >= 60) short.end(1, { t: 'open' });
        short.begin();
      }
      if (now % 30 === 10) short.open(now, 't');
      if (now === 60) others.open(now, 't');
      if (now <= 60 || now % 20 !== 0) return;
      for (const reason of ['unavailable', 'not_allowed', 'repeat'] as const) others.skip('t', 1, reason);
    });
  });

  it('is silent for 10 minutes about an agent that restarts with its circuit open', () => {
    const one = new SimulatedProcess();
    one.stop();
    const firing = [{ alert: 'ProbeStarved', after: 890, by: 1001 }];
    return run({ interval, of, lasts: 1000, processes: [one], firing }, (now) => {
      if (now === 300) {
        one.start();
        one.begin();
        one.move('t', 'closed', 'open');
      }
      if (now > 300 && now % 20 === 0) one.skip('t');
    });
  });
});
