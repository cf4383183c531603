import { describe, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { agents, instances, type SimulatedProcess } from './process.ts';

const HOUR = 3600;

/** Sessions of equal length, one after the other. Of ten, this many fall to one failure left, late in their time. */
const burn = (one: SimulatedProcess, now: number, lasts: number, low: number): void => {
  if (now > 0 && now % lasts === 0) {
    one.end();
    one.begin();
  }
  const session = Math.floor(now / lasts);
  // Spread evenly: 3 of 10 are the 4th, 7th and 10th.
  const falls = Math.floor(((session + 1) * low) / 10) > Math.floor((session * low) / 10);
  if (falls && now % lasts === Math.floor(lasts * 0.8)) one.fallLow();
};

describe.concurrent.each(INTERVALS)('BreakerboxBudgetBurnFast, every %i s', (interval) => {
  const of = among(interval, 'BudgetBurnFast');

  it('fires when sessions fall low, and resolves 20 minutes after the last one', () => {
    const missed = (now: number) => now === 600;
    // The fifth session falls at 288.
    const end = interval === 1 ? {} : { until: 2400, gone: 3700 };
    const firing = [{ alert: 'BudgetBurnFast', after: 285, by: 660, ...end }];
    return run({ interval, of, lasts: interval === 1 ? 700 : 4200, missed, firing }, (now, one) =>
      burn(one, now, 60, now < 2400 ? 10 : 0),
    );
  });

  it('is silent when fewer than half of the sessions do', () =>
    run({ interval, of, lasts: interval === 1 ? 600 : 2400 }, (now, one) => burn(one, now, 60, 4)));
});

describe.concurrent.each(wanted(15, 60))('BreakerboxBudgetBurnFast, every %i s', (interval) => {
  const scenario = { interval, of: ['BudgetBurnFast'], lasts: 3 * HOUR };

  it('fires when each process runs one session and is first scraped with it', () => {
    const batch = instances(Array.from({ length: 90 }, (_, index) => `batch-${index}`));
    for (const one of batch) one.stop();
    const processes = [...instances(['old']), ...batch];
    const firing = [{ alert: 'BudgetBurnFast', after: 520, by: 1.5 * HOUR }];
    return run({ ...scenario, processes, sessions: 0, firing }, (now) => {
      const one = batch[Math.floor(now / 120)];
      if (now % 120 === 1) one?.start();
      if (now % 120 === 1) one?.begin();
      if (now % 120 === 40) one?.fallLow();
      if (now % 120 === 119) one?.stop();
    });
  });

  it('fires when sessions last longer than both windows, and most of them fall within the hour', () => {
    // 25 of 50 are exactly half; the alert needs more than half.
    const times = { after: HOUR + 2200, by: HOUR + 2700, until: 2 * HOUR, gone: 2 * HOUR + 1400 };
    return run({ ...scenario, sessions: 50, firing: [{ alert: 'BudgetBurnFast', ...times }] }, (now, one) => {
      if (now > HOUR && now <= 2 * HOUR && now % 90 === 0) one.fallLow();
    });
  });

  it('is silent about few sessions, few of many long ones, no sessions, restarts, and a fleet that ends its work', () => {
    const processes = agents(['few', 'restarting', 'long', 'ending', 'none']);
    return run({ ...scenario, processes }, (now, few, restarting, long, ending) => {
      burn(few, now, 1200, 10);
      if (now % 900 === 0) {
        restarting.start();
        restarting.begin();
      }
      burn(restarting, now % 900, 60, 4);
      if (now === 0) long.begin(499);
      if (now > HOUR && now % 60 === 0) long.fallLow();
      if (now > HOUR && now % 600 === 0) long.begin();
      // Sessions of half an hour, one started every 20 seconds until 1:30; one in three falls.
      if (now % 20 !== 0) return;
      if (now > 0 && now < 1.5 * HOUR) ending.begin();
      if (now >= 0.5 * HOUR && now < 2 * HOUR) ending.end();
      if (now % 60 === 0 && now >= 0.5 * HOUR && now < 2 * HOUR) ending.fallLow();
    });
  });
});

describe.concurrent.each(wanted(15, 60))('BreakerboxBudgetBurnSlow, every %i s', (interval) => {
  const of = ['BudgetBurnSlow'];

  it('fires when sessions fall low for hours, and resolves an hour and a half after', () => {
    const missed = (now: number) => now === 3 * HOUR;
    // At 15 s only until it fires, because hours take time.
    const end = interval === 15 ? {} : { until: 4 * HOUR, gone: 5.6 * HOUR };
    const firing = [{ alert: 'BudgetBurnSlow', after: HOUR, by: 2 * HOUR, ...end }];
    return run({ interval, of, lasts: (interval === 15 ? 2.5 : 7) * HOUR, missed, firing }, (now, one) =>
      burn(one, now, 300, now < 4 * HOUR ? 4 : 0),
    );
  });

  it('is silent about one in five, about few sessions, and about an agent that has just started', () => {
    const processes = agents(['less', 'few', 'young']);
    return run({ interval, of, lasts: 4 * HOUR, processes }, (now, less, few, young) => {
      burn(less, now, 300, 2);
      burn(few, now, HOUR, 10);
      burn(young, now, 60, now < 0.7 * HOUR ? 4 : 0);
    });
  });
});

describe.concurrent('BreakerboxBudgetBurnSlow', () => {
  const scenario = { interval: 60, of: ['BudgetBurnFast', 'BudgetBurnSlow'] };
  const end = 2 * HOUR;
  const fast = { alert: 'BudgetBurnFast', after: 285, by: 660, until: end, gone: end + 1300 };

  it('is silent while a fast burn is still in its windows, if sessions work again', () => {
    const missed = (now: number) => now === 1.5 * HOUR;
    return run({ ...scenario, lasts: 3.7 * HOUR, missed, firing: [fast] }, (now, one) =>
      burn(one, now, 60, now < end ? 10 : 0),
    );
  });

  it('fires half an hour after a fast burn, if fewer sessions continue to fall', () => {
    const firing = [fast, { alert: 'BudgetBurnSlow', after: end + 1800, by: end + 2400 }];
    return run({ ...scenario, lasts: 3 * HOUR, firing }, (now, one) => burn(one, now, 60, now < end ? 10 : 4));
  });

  /** The last session that falls low runs out too, and is resumed before a scrape. */
  const runOut = (one: SimulatedProcess, now: number, lasts: number, low: number, until: number): void => {
    burn(one, now, lasts, now < until ? low : 0);
    if (now >= until || now % lasts !== Math.floor(lasts * 0.8) + 1) return;
    one.pause('paused_budget');
    one.pause('paused_budget', -1);
  };
  const all = ['BudgetBurnFast', 'BudgetBurnSlow', 'BudgetExhausted'];

  // BudgetExhausted ends 18 minutes after the last session ran out. The windows of a burn are longer.
  it.each([
    ['a fast burn', 60, 10],
    ['a slow burn', 300, 4],
  ] as const)('and …Fast do not follow sessions that ran out, after %s', (_, lasts, low) => {
    const firing = [{ alert: 'BudgetExhausted', after: 0, by: 420, until: end + 720, gone: end + 1300 }];
    return run({ ...scenario, of: all, lasts: 4 * HOUR, firing }, (now, one) => runOut(one, now, lasts, low, end));
  });

  it('and …Fast end when sessions run out, and return only if the burn outlasts that', () => {
    const out = HOUR + 120;
    const firing = [
      { alert: 'BudgetBurnFast', after: 285, by: 660, until: out - 60, gone: out + 180 },
      { alert: 'BudgetExhausted', after: out - 60, by: out + 180, until: out + 1020, gone: out + 1260 },
      { alert: 'BudgetBurnFast', after: out + 1080, by: out + 1300, until: end + 900, gone: end + 1300 },
    ];
    const second = (now: number, one: SimulatedProcess): void => {
      burn(one, now, 60, now < end ? 10 : 0);
      if (now === out) one.pause('paused_budget');
      if (now === out) one.pause('paused_budget', -1);
    };
    return run({ ...scenario, of: all, lasts: 3.5 * HOUR, firing }, second);
  });

  it('is silent when most sessions are older than the window, and few of them fall', () =>
    run({ ...scenario, lasts: 6 * HOUR, sessions: 100 }, (now, one) => {
      if (now % 900 === 450) one.begin();
      if (now % 1800 === 30) one.fallLow();
    }));

  it('shares have no value, and not NaN, without sessions, and are never above 1', () => {
    const processes = agents(['again', 'late', 'idle']);
    const shares = ['5m', '30m', '1h', '6h'].map((window) => `job_agent:breakerbox_budget_burn:ratio${window}`);
    // Only NaN differs from itself.
    const never = shares.flatMap((name) => [`${name} != ${name}`, `${name} > 1`, `${name}{gen_ai_agent_name="idle"}`]);
    return run({ ...scenario, lasts: 3 * HOUR, processes, sessions: 0, never }, (now, again, late) => {
      if (now === HOUR) late.begin();
      if (now > HOUR && now < 1.5 * HOUR) burn(late, now - HOUR, 60, 2);
      // One session that falls, recovers its full budget, and falls again.
      if (now === 0) again.begin();
      if (now > HOUR && now % 1800 === 0) again.fallLow();
    });
  });

  it('and …Fast say the share', () => {
    const at = 3 * HOUR;
    const labelsOf = (agent: string, severity: string) => ({ job: 'fleet', gen_ai_agent_name: agent, severity });
    const says = [
      {
        at,
        alert: 'BudgetBurnFast',
        labels: labelsOf('fast', 'critical'),
        summary: 'fast: sessions use up their failure budgets',
        description:
          '98% of the sessions that agent fast (job fleet) had in the last hour ran low: at most one failure is left in their budget. Over 5 minutes, this share was also more than 50 %, now or at most 15 minutes ago. The next failure that is charged pauses such a session. Repair the tools that fail. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.',
        dashboard: '/d/breakerbox-failure-budget?var-job=fleet&var-agent=fast',
        began: 'Jan 1 00:01 UTC',
      },
      {
        at,
        alert: 'BudgetBurnSlow',
        labels: labelsOf('slow', 'warning'),
        summary: 'slow: sessions have been short of failure budget for hours',
        description:
          '30% of the sessions that agent slow (job fleet) had in the last 6 hours ran low: at most one failure is left in their budget. Over 30 minutes, this share was also more than 25 %, now or at most 1 hour ago. The next failure that is charged pauses such a session. Repair the tools that fail. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.',
        dashboard: '/d/breakerbox-failure-budget?var-job=fleet&var-agent=slow',
        began: 'Jan 1 00:01 UTC',
      },
    ];
    const firing = [
      { alert: 'BudgetBurnFast', after: 0, by: 660 },
      { alert: 'BudgetBurnSlow', after: 0, by: 2 * HOUR },
    ];
    return run({ ...scenario, lasts: at, processes: agents(['fast', 'slow']), firing, says }, (now, quick, slow) => {
      burn(quick, now, 60, 10);
      burn(slow, now, 20, 3);
    });
  });
});
