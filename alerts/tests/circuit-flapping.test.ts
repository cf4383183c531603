import { describe, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { agents, instances } from './process.ts';

const alert = 'CircuitFlapping';

describe.concurrent.each(INTERVALS)('BreakerboxCircuitFlapping, every %i s', (interval) => {
  const of = among(interval, alert);

  it('fires at the fourth opening in 15 minutes, and resolves when they have left the window', () => {
    // From the fourth (600 s) on. At 960 s the first leaves the window, and the alert is kept for 5 more minutes.
    const end = interval === 1 ? { until: 1000 } : { until: 1200, gone: 1380 };
    const firing = [{ alert, after: 600, by: 600 + 2 * interval, ...end }];
    return run({ interval, of, lasts: interval === 1 ? 1000 : 2700, firing }, (now, one) => {
      if (now <= 720 && now % 180 === 60) one.open(now, 't');
      if (now <= 720 && now % 180 === 120) one.probe('t', 'success');
      if (now % 60 >= 50 || now % 180 < 60) one.call('t', 'success');
    });
  });

  it('is silent about three', () =>
    run({ interval, of, lasts: interval === 1 ? 1300 : 2700 }, (now, one) => {
      if (now % 310 === 60) one.open(now, 't');
      if (now % 310 === 120) one.probe('t', 'success');
      if (now % 310 > 120) one.call('t', 'success');
    }));

  it('fires when each short session finds a dead tool again', () => {
    const slow = of === undefined ? [{ alert: 'BudgetBurnSlow', after: 0, by: 901 }] : [];
    const firing = [{ alert, after: 440, by: 450 + 2 * interval }, ...slow];
    return run({ interval, of, lasts: 900, firing }, (now, one) => {
      if (now > 0 && now % 120 === 0) {
        one.end(1, { t: 'open' });
        one.begin();
      }
      if (now % 120 === 80) one.open(now, 't');
    });
  });
});

describe.concurrent.each(wanted(15, 60))('BreakerboxCircuitFlapping in a fleet, every %i s', (interval) => {
  it('is silent about one outage in 500 sessions, about failed probes, and about restarts, which reset the counters', () => {
    const processes = agents(['fleet', 'probing', 'restarting']);
    return run({ interval, of: [alert], lasts: 2400, processes }, (now, fleet, probing, restarting) => {
      if (now === 0) fleet.begin(499);
      if (now > 60 && now <= 310) fleet.open(now, 't', 'network', 2);
      if (now === 60) probing.open(now, 't');
      if (now > 60 && now % 60 === 0) probing.probe('t', 'network');
      if (now % 300 === 0) {
        restarting.start();
        restarting.begin();
      }
      if (now % 300 === 200) restarting.open(now, 't');
      if (now % 300 === 260) restarting.probe('t', 'success');
    });
  });

  it('is silent about a dead tool that each session finds again, if BreakerboxCircuitOpen sees it', () => {
    const firing = [{ alert: 'CircuitOpen', after: 340, by: 600 }];
    return run({ interval, of: [alert, 'CircuitOpen'], lasts: 2400, firing }, (now, one) => {
      if (now > 60 && now % 60 === 30) {
        one.end(1, { t: 'open' });
        one.begin();
      }
      if (now % 60 === 40) one.open(now, 't');
    });
  });
});

it.concurrent('BreakerboxCircuitFlapping is silent when processes come back after two hours, with their old openings', () => {
  const missed = (now: number) => now > 4500 && now < 4500 + 7200;
  return run({ interval: 60, of: [alert], lasts: 4 * 3600, missed }, (now, one) => {
    if (now < 4500 && now % 450 === 100) one.open(now, 't');
    if (now < 4500 && now % 450 === 160) one.probe('t', 'success');
  });
});

it.concurrent('BreakerboxCircuitFlapping counts processes of one session each, whose first scrape has the opening', () => {
  const old = instances(['old'], { tools: [] });
  const batch = instances(Array.from({ length: 24 }, (_, index) => `batch-${index}`));
  for (const one of batch) one.stop();
  const firing = [{ alert, after: 0, by: 1500 }];
  return run({ interval: 15, of: [alert], lasts: 2400, processes: [...old, ...batch], firing }, (now) => {
    const one = batch[Math.floor(now / 120)];
    if (now % 120 === 1) one?.start();
    if (now % 120 === 2) one?.begin();
    // Open for half a minute, then the process ends.
    if (now % 120 === 55) one?.open(now, 't');
    if (now % 120 === 95) one?.stop();
  });
});

it.concurrent('BreakerboxCircuitFlapping says the number of openings, and the minute before the first', () => {
  const says = {
    at: 660,
    alert: 'CircuitFlapping',
    labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
    summary: 'a: t opens again and again (network)',
    description:
      'Circuits of tool t of agent a (job fleet) have opened 4 times each on average within 15 minutes. Either the tool fails and recovers again and again, or it is down and the circuit of each new session opens again. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
    dashboard: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
    began: 'Jan 1 00:00 UTC',
  };
  const firing = [{ alert, after: 600, by: 630 }];
  return run({ interval: 15, of: [alert], lasts: 900, firing, says: [says] }, (now, one) => {
    if (now % 180 === 60) one.open(now, 't');
    if (now % 180 === 120) one.probe('t', 'success');
  });
});
