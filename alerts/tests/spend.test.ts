import { describe, expect, it } from 'vitest';
import { ruleFiles } from '../src/prometheus.ts';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { instances } from './process.ts';

const HOUR = 3600;
const labels = { job: 'fleet', gen_ai_agent_name: 'a', severity: 'warning' };
const dashboard = '/d/breakerbox-failure-budget?var-job=fleet&var-agent=a';

describe.concurrent.each(INTERVALS)('BreakerboxLimitReached, every %i s', (interval) => {
  const of = among(interval, 'LimitReached');
  const alert = 'LimitReached';

  it('D7: fires while a limit pauses a session, and is kept for 15 minutes after', () => {
    const firing = [{ alert, after: 300, by: 300 + 2 * interval, until: 1495, gone: 1500 + 2 * interval }];
    const missed = (now: number) => now === 420;
    return run({ interval, of, lasts: 2700, sessions: 2, missed, firing }, (now, one) => {
      if (now === 300) one.pause('paused_limit');
      if (now === 300) one.limit('reached');
      if (now === 600) one.pause('paused_limit', -1);
    });
  });

  it('D7: sees a run that reaches its limit and ends between two scrapes, also the first one', () => {
    const says = {
      at: 480,
      alert,
      labels,
      summary: 'a: runs have reached a limit (tokens)',
      description:
        'Agent a (job fleet): Runs reached a limit within the last 18 minutes, and ended or were extended since. None is paused now (at Jan 1 00:08 UTC). A paused session calls no tool until its limit is extended. Its calls have not failed: look at what the run has done, and whether it goes in circles. To see sessions and limits: breakerbox ctl list. To let a run go on: breakerbox ctl extend SESSION LIMIT AMOUNT.',
      dashboard,
      began: 'Jan 1 00:06 UTC',
    };
    const firing = [{ alert, after: 361, by: 361 + 2 * interval, until: 1380, gone: 1470 + 2 * interval }];
    return run({ interval, of, lasts: 1600, firing, says: [says] }, (now, one) => {
      if (now !== 361) return;
      one.pause('paused_limit');
      one.limit('reached', 'tokens');
      one.end(1, {}, 'paused_limit');
      one.begin();
    });
  });

  it('D7: is silent about limits that are near, limits that only observe, and old ones', () => {
    const missed = (now: number) => now > 600 && now < 800;
    return run({ interval, of, lasts: 1200, missed }, (now, one) => {
      if (now === 0) one.limit('reached');
      if (now === 300) one.limit('advised');
      if (now === 400) one.limit('observed');
    });
  });
});

it.concurrent('D7: BreakerboxLimitReached says which limits, and how many sessions wait', () => {
  const says = {
    at: 600,
    alert: 'LimitReached',
    labels,
    summary: 'a: runs have reached a limit (calls, cost)',
    description:
      'Agent a (job fleet): 2 sessions are paused by a limit (at Jan 1 00:10 UTC). A paused session calls no tool until its limit is extended. Its calls have not failed: look at what the run has done, and whether it goes in circles. To see sessions and limits: breakerbox ctl list. To let a run go on: breakerbox ctl extend SESSION LIMIT AMOUNT.',
    dashboard,
    began: 'Jan 1 00:08 UTC',
  };
  const firing = [{ alert: 'LimitReached', after: 500, by: 600 }];
  return run({ interval: 60, of: ['LimitReached'], lasts: 900, sessions: 3, firing, says: [says] }, (now, one) => {
    if (now !== 530) return;
    one.pause('paused_limit', 2);
    for (const limit of ['calls', 'cost']) one.limit('reached', limit);
  });
});

/** A shorter history: a day takes long to evaluate, and hours test the same. */
const settings = { spendLeastHistory: '3h' };

/** Amounts each minute: the usual one, and another one from this time on. */
const spending =
  (usual: number, from: number, then: number, until = Number.POSITIVE_INFINITY) =>
  (now: number) => {
    if (now % 60 !== 0) return 0;
    return now >= from && now < until ? then : usual;
  };

describe.concurrent.each(wanted(15, 60))('BreakerboxSpendBurn, every %i s', (interval) => {
  const alert = 'SpendBurn';
  const base = { interval, of: [alert], options: { settings }, lasts: 6 * HOUR };

  it('D7: fires once the last hour is three times the usual, and ends when it no longer is', () => {
    const amount = spending(0.1, 4 * HOUR, 1, 4.5 * HOUR);
    // Of 6 USD in an hour, 18 are passed after about 14 minutes. The last of them leaves the hour at 5:30, and the alert is kept.
    const firing = [
      { alert, scope: 'cost', after: 4 * HOUR + 480, by: 4 * HOUR + 1320, until: 5.2 * HOUR, gone: 5.5 * HOUR + 1400 },
    ];
    return run({ ...base, firing }, (now, one) => one.spend(0, amount(now)));
  });

  it('D7: by tokens, if the agent reports no cost', () => {
    const amount = spending(10_000, 4 * HOUR, 200_000);
    const firing = [{ alert, scope: 'tokens', after: 4 * HOUR, by: 4 * HOUR + 1320, until: 5.5 * HOUR }];
    return run({ ...base, lasts: 5.5 * HOUR, firing }, (now, one) => one.spend(amount(now)));
  });

  it('D7: is silent about steady spending, twice the usual, sums below the floor, and agents without a history', async () => {
    const silent = async (amount: (now: number) => number, more = {}) =>
      run({ ...base, ...more }, (now, one) => one.spend(0, amount(now)));
    await silent(spending(1, 4 * HOUR, 2));
    await silent(spending(0.001, 4 * HOUR, 0.05));
    await silent(spending(0.1, HOUR, 1), { lasts: 1.9 * HOUR });
  });

  it('D7: compares the hours in which an agent works: a night without spending is no reason', () => {
    const working = (now: number) => (now < 2 * HOUR || now > 4.5 * HOUR ? 0.5 : 0);
    return run(base, (now, one) => one.spend(0, now % 60 === 0 ? working(now) : 0));
  });
});

it.concurrent('D7: BreakerboxSpendBurn counts new processes, and is critical at the rate that is set', () => {
  const processes = [...instances(['1', '2'])];
  processes[1]?.stop();
  const says = {
    at: 5.3 * HOUR,
    alert: 'SpendBurn',
    labels: { ...labels, severity: 'critical', scope: 'rate', breakerbox_currency: 'EUR' },
    summary: 'a spends much more than usual',
    description:
      'Agent a (job fleet) has spent 66 EUR in an hour: more than 20, which is too much for any agent. See which sessions are at work: breakerbox ctl list. Set limits for runs, so that the next one pauses by itself.',
    dashboard,
  };
  const firing = [{ alert: 'SpendBurn', scope: 'rate', after: 4 * HOUR + 600, by: 4 * HOUR + 1800 }];
  const options = { settings: { ...settings, spendCriticalCost: 20, spendFactor: 100 } };
  const scenario = { interval: 60, of: ['SpendBurn'], lasts: 5.5 * HOUR, processes, options, firing, says: [says] };
  return run(scenario, (now, one, two) => {
    if (now % 60 === 0) one.spend(0, 0.1, 'EUR');
    if (now === 4 * HOUR) two?.start();
    if (now > 4 * HOUR && now % 60 === 0) two?.spend(0, 1, 'EUR');
  });
});

it('D7: without a critical rate, there is no such rule', () => {
  expect(ruleFiles().some(({ text }) => text.includes('scope: rate'))).toBe(false);
  const text = ruleFiles({ settings: { spendCriticalCost: 50 } })
    .map((file) => file.text)
    .join('');
  expect(text).toContain('scope: rate');
  expect(text).toContain('job_agent_currency:breakerbox_spent_cost:increase1h > 50');
});
