import { describe, it } from 'vitest';
import { run, type Scenario, wanted } from './bench.ts';

const HOUR = 3600;
const alert = 'ToolSlow';
/** A shorter history: a day takes long to evaluate, and an hour tests the same. */
const options = { settings: { slowLeastHistory: '1h' } };

/** Calls that take this many seconds. */
const timed = (interval: number, took: (now: number) => number, more: Partial<Scenario> = {}, every = 10) =>
  run({ interval, options, of: [alert], lasts: 3 * HOUR, ...more }, (now, one) => {
    if (now % every === 0) one.call('t', 'success', 1, took(now));
  });

describe.concurrent.each(wanted(15, 60))('BreakerboxToolSlow, every %i s', (interval) => {
  it('fires after 15 minutes, across a missed scrape, and resolves after 5 fast minutes', () => {
    const end = 2.2 * HOUR;
    const times = { after: 1.5 * HOUR + 900, by: 1.5 * HOUR + 1080, until: end, gone: end + 360 + interval };
    const missed = (now: number) => now === 1.8 * HOUR;
    const took = (now: number) => (now >= 1.5 * HOUR && now < end ? 4 : 0.5);
    return timed(interval, took, { missed, firing: [{ alert, ...times }] });
  });

  it('is silent about twice the usual time, about one slow minute, and about slower calls that are still fast', async () => {
    await timed(interval, (now) => (now >= 1.5 * HOUR ? 1.28 : 0.6));
    await timed(interval, (now) => (now >= 1.5 * HOUR && now < 1.5 * HOUR + 240 ? 20 : 0.5));
    await timed(interval, (now) => (now >= 1.5 * HOUR ? 0.6 : 0.1));
  });

  it('is silent without history, and about few calls', async () => {
    await timed(interval, (now) => (now >= 600 ? 20 : 0.5), { lasts: 0.9 * HOUR });
    await timed(interval, (now) => (now >= 1.5 * HOUR ? 20 : 0.5), {}, 60);
  });
});

it.concurrent('BreakerboxToolSlow is silent about timeouts during BreakerboxCircuitOpen, and when they are over', () => {
  const [from, to] = [1.5 * HOUR, 1.5 * HOUR + 1200];
  const firing = [{ alert: 'CircuitOpen', after: from + 300, by: from + 500, until: to, gone: to + 200 }];
  const scenario = { interval: 60, options, of: [alert, 'CircuitOpen'], lasts: 3 * HOUR, sessions: 20, firing };
  return run(scenario, (now, one) => {
    if (now === from) one.open(now, 't', 'timeout', 20);
    if (now % 10 === 0) {
      if (now >= from && now < to) one.call('t', 'timeout', 2, 30);
      else one.call('t', 'success', 1, 0.5);
    }
    if (now === to) one.probe('t', 'success', 20);
  });
});

it.concurrent('BreakerboxToolSlow works at 1 s, with shorter times', () =>
  timed(1, (now) => (now >= 965 ? 4 : 0.5), {
    lasts: 1290,
    options: { settings: { slowLeastHistory: '10m', slowFor: '3m' } },
    firing: [{ alert, after: 1145, by: 1250 }],
  }));

it.concurrent('BreakerboxToolSlow says the p95, and since when', () => {
  const says = {
    at: 2.5 * HOUR,
    alert: 'ToolSlow',
    labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
    summary: 'a: t is much slower than usual',
    description:
      'The p95 of the calls to tool t of agent a (job fleet) is 4.928s over 15 minutes: one call in twenty takes longer. That is more than 3 times its usual p95 of the last week. Check the service behind it. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.',
    dashboard: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
    began: 'Jan 1 01:30 UTC',
  };
  const firing = [{ alert, after: 1.5 * HOUR + 900, by: 1.5 * HOUR + 1080 }];
  return timed(60, (now) => (now >= 1.5 * HOUR ? 4 : 0.5), { lasts: 2.5 * HOUR, firing, says: [says] });
});
