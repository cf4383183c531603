import { describe, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { agents, instances } from './process.ts';

const HOUR = 3600;
const alert = 'TelemetryAbsent';

describe.concurrent.each(INTERVALS)('BreakerboxTelemetryAbsent, every %i s', (interval) => {
  const of = among(interval, alert);

  it('fires after 5 minutes without data, and resolves when the agent is back', () => {
    const end = interval === 1 ? {} : { until: 2399, gone: 2400 + 2 * interval };
    const firing = [{ alert, after: 1480, by: 1500 + 2 * interval, ...end }];
    return run({ interval, of, lasts: interval === 1 ? 1900 : 3000, firing }, (now, one) => {
      if (now === 1200) one.stop();
      if (now === 2400) one.start();
    });
  });

  it('is silent about a run of 3 minutes, missed scrapes, restarts, and instances that come and go', () => {
    const processes = [...agents(['short', 'steady']), ...instances(['old', 'next'], { agent: 'moved' })];
    processes[3]?.stop();
    const missed = (now: number) => now === 600 || now === 1500;
    return run({ interval, of, lasts: 1800, processes, missed }, (now, short, steady, old, next) => {
      if (now === 180) short.stop();
      if (now === 1200) steady.stop();
      if (now === 1320) steady.start();
      if (now === 1200) old.stop();
      if (now === 1300) next.start();
    });
  });
});

describe.concurrent.each(wanted(15, 60))('BreakerboxTelemetryAbsent by push, evaluated every %i s', (evaluation) => {
  it('fires 5 minutes after the last push, although Prometheus returns that push for 5 minutes', () => {
    const firing = [{ alert, after: 1480, by: 1500 + 2 * evaluation }];
    const missed = (now: number) => now === 600;
    return run({ interval: 60, evaluation, pushed: true, lasts: 2400, missed, firing }, (now, one) => {
      if (now === 1201) one.stop();
    });
  });
});

it.concurrent('BreakerboxTelemetryAbsent is silent about an agent that comes and goes, and fires for one that was always there', () => {
  const end = 75 * HOUR;
  const hours = [10, 13, 20, 30, 72];
  const processes = agents(['nightly', ...hours.map((count) => `for ${count} h`)]);
  for (const one of processes) one.stop();
  const firing = [
    // One absence is not a habit.
    { alert, after: 2.5 * HOUR + 280, by: 2.5 * HOUR + 720, until: 3 * HOUR, gone: 3.6 * HOUR },
    { alert, count: hours.length, after: end + 280, by: end + 720 },
  ];
  const scenario = { interval: 60, evaluation: 240, of: [alert], lasts: end + 0.5 * HOUR, processes, firing };
  return run(scenario, (now, nightly, ...steady) => {
    if (now % (24 * HOUR) === 2 * HOUR) nightly.start();
    if (now % (24 * HOUR) === 2.5 * HOUR) nightly.stop();
    for (const [index, one] of steady.entries()) {
      if (now === end - (hours[index] ?? 0) * HOUR) one.start();
      if (now === end) one.stop();
    }
  });
});

it.concurrent('BreakerboxTelemetryAbsent names the agent', () => {
  const says = {
    at: 1800,
    alert: 'TelemetryAbsent',
    labels: { job: 'fleet', gen_ai_agent_name: 'a', severity: 'warning' },
    summary: 'a has stopped reporting',
    description:
      'Agent a (job fleet) has reported nothing for 5 minutes, after it reported for 21 of the last 60 minutes. It has ended, hangs, or cannot be reached. No other alert of this agent has data now. Look at its process, and at its target in Prometheus. On its machine, breakerbox ctl list shows whether it still answers. This alert resolves by itself within an hour, even if nothing was repaired.',
    dashboard: '/d/breakerbox-fleet-overview?var-job=fleet&var-agent=a',
    began: 'Jan 1 00:20 UTC',
  };
  const firing = [{ alert, after: 1480, by: 1620 }];
  return run({ interval: 60, of: [alert], lasts: 1800, firing, says: [says] }, (now, one) => {
    if (now === 1201) one.stop();
  });
});
