import { describe, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { agents, type SimulatedProcess } from './process.ts';

const alert = 'ToolErrorRateHigh';

/** A call every 10 seconds. Of ten, this many fail, never three in a row. */
const calls = (one: SimulatedProcess, now: number, failing: number): void => {
  if (now % 10 !== 0) return;
  one.call('t', ((now / 10) * failing) % 10 < failing ? 'server' : 'success');
};

describe.concurrent.each(INTERVALS)('BreakerboxToolErrorRateHigh, every %i s', (interval) => {
  const of = among(interval, alert);

  it('fires after 10 minutes of 40 % failures, across a missed scrape, and resolves when they have left the 5 minutes', () => {
    const missed = (now: number) => now === 300;
    // At 1 s only until it fires, because the rest takes time.
    const end = interval === 1 ? {} : { until: 900, gone: 1140 + 2 * interval };
    const firing = [{ alert, after: 660, by: 780 + 3 * interval, ...end }];
    return run({ interval, of, lasts: interval === 1 ? 860 : 1500, missed, firing }, (now, one) =>
      calls(one, now, now > 60 && now <= 900 ? 4 : 0),
    );
  });

  it('is silent about 20 % failures', () =>
    run({ interval, of, lasts: interval === 1 ? 800 : 1200 }, (now, one) => calls(one, now, 2)));
});

describe.concurrent.each(wanted(15, 60))('BreakerboxToolErrorRateHigh and an outage, every %i s', (interval) => {
  it.each([
    ['of 13 minutes and after it, if BreakerboxCircuitOpen fired', 900, true],
    ['of four minutes', 360, false],
  ])('is silent during an outage %s', (_, over, isOpen) => {
    const times = { after: 420, by: 495 + 2 * interval, until: 1010, gone: 1095 + 2 * interval };
    const firing = isOpen ? [{ alert: 'CircuitOpen', ...times }] : [];
    return run({ interval, lasts: over + 1200, sessions: 5, firing }, (now, one) => {
      if (now === 120) one.open(now, 't', 'network', 5);
      if (now > 120 && now < over && now % 60 === 0) one.probe('t', 'network', 5);
      if (now === over) one.probe('t', 'success', 5);
      if (now < 60 || now > over) calls(one, now, isOpen ? 1 : 0);
    });
  });

  it('fires when a tool is out of use half of the time, but never long enough for BreakerboxCircuitOpen', () => {
    const of = [alert, 'CircuitOpen', 'CircuitFlapping'];
    return run({ interval, of, lasts: 7200, firing: [{ alert, after: 600, by: 1200 }] }, (now, one) => {
      const turn = now % 480;
      if (turn === 240) one.open(now, 't', 'server');
      else if (turn > 240 && turn % 60 === 0) one.probe('t', 'server');
      else if (turn === 0 && now > 0) one.probe('t', 'success');
      else if (turn < 240 && turn % 20 === 10) one.call('t', turn % 40 === 10 ? 'server' : 'success');
    });
  });

  it('is silent about few calls, about a bad quarter of an hour in a good hour, and over restarts', () => {
    const processes = agents(['rare', 'good', 'restarting']);
    return run({ interval, of: [alert], lasts: 3600, processes }, (now, rare, good, restarting) => {
      if (now % 500 === 0) rare.call('t', 'server');
      calls(good, now, now >= 2400 && now < 3300 ? 4 : 0);
      if (now % 600 === 0) {
        restarting.start();
        restarting.begin();
      }
      calls(restarting, now, 2);
    });
  });
});

it.concurrent('BreakerboxToolErrorRateHigh says the share, and since when', () => {
  const says = {
    at: 1080,
    alert: 'ToolErrorRateHigh',
    labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
    summary: 'a: t fails too often (server)',
    description:
      '50% of the calls to tool t of agent a (job fleet) have failed over the last 5 minutes, and more than 25 % over the last hour. Too few fail in a row to keep a circuit open, so the agent continues, and each failure costs it time and budget. Check the service behind it. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.',
    dashboard: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
    began: 'Jan 1 00:01 UTC',
  };
  const firing = [{ alert, after: 600, by: 840 }];
  return run({ interval: 60, of: [alert], lasts: 1080, firing, says: [says] }, (now, one) => calls(one, now, 5));
});
