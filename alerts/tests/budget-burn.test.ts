import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const HOUR = 3600;

/**
 * Sessions one after the other, each as long; of their 5 failures each so many are charged, one after the other, by calls
 * that fail now and then and open no circuit.
 */
const burn = (one: SimulatedProcess, now: number, lasts: number, charged: number): void => {
  const at = now % lasts;
  if (at === 0) {
    if (now > 0) one.end();
    one.begin();
  }
  if (at > 0 && at % Math.floor(lasts / 6) === 0 && at / Math.floor(lasts / 6) <= charged) one.charge();
};

describe.concurrent.each(INTERVALS)('BreakerboxBudgetBurnFast, every %i s', (interval) => {
  const of = among(interval, 'BudgetBurnFast');

  it('fires where sessions use up their budgets, and resolves 20 minutes after they have stopped to', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 700 : 4200,
      processes: [one],
      second: (now) => {
        burn(one, now, 60, now < 2400 ? 5 : 0);
      },
      missed: (now) => now === 600,
      firing: [
        { alert: 'BudgetBurnFast', after: 120, by: 540, ...(interval === 1 ? {} : { until: 2400, gone: 3700 }) },
      ],
    });
  });

  it('is silent about one dead tool, which costs a short session 3 of 5', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 600 : 2400,
      processes: [one],
      second: (now) => {
        burn(one, now, 60, 3);
      },
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxBudgetBurnFast, every %i s', (interval) => {
  const of = ['BudgetBurnFast'];

  it('fires where each process runs one session, and is first seen with its budget granted', async () => {
    const old = new SimulatedProcess({ instance: 'old' });
    const batch = Array.from({ length: 90 }, (_, index) => new SimulatedProcess({ instance: `batch-${index}` }));
    for (const one of batch) one.stop();
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [old, ...batch],
      second: (now) => {
        const one = batch[Math.floor(now / 120)];
        if (now % 120 === 1) {
          one?.start();
          one?.begin();
          one?.charge();
        }
        if (now % 120 >= 10 && now % 120 <= 40 && now % 10 === 0) one?.charge();
        if (now % 120 === 45) one?.pause('paused_budget');
        if (now % 120 === 119) one?.stop();
      },
      firing: [{ alert: 'BudgetBurnFast', after: HOUR, by: 2 * HOUR }],
    });
  });

  it('is silent about few sessions, about long ones that are charged what was granted long ago, and over restarts', async () => {
    const few = new SimulatedProcess({ agent: 'few' });
    const long = new SimulatedProcess({ agent: 'long' });
    const restarting = new SimulatedProcess({ agent: 'restarting' });
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [few, long, restarting],
      second: (now) => {
        burn(few, now, 1200, 5);
        if (now === 0) long.begin(500);
        if (now > HOUR && now % 60 === 0) long.charge();
        if (now > HOUR && now % 600 === 0) long.begin();
        if (now % 900 === 0) restarting.start();
        burn(restarting, now % 900, 60, 3);
      },
    });
  });

  it('is silent where a fleet goes home: the last sessions are charged, and none is granted anything', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [one],
      second: (now) => {
        // Sessions of an hour, one begun each minute until half past one; each is charged 2 of 5 in its time.
        if (now % 60 === 0) {
          if (now < 1.5 * HOUR) one.begin();
          if (now >= HOUR && now < 2.5 * HOUR) one.end();
        }
        const live = Math.min(now, HOUR, Math.max(0, 2.5 * HOUR - now)) / 60;
        const each = Math.round(1800 / Math.max(live, 1));
        if (live >= 1 && now % each === 0) one.charge();
      },
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxBudgetBurnSlow, every %i s', (interval) => {
  const of = ['BudgetBurnSlow'];

  it('fires where sessions lose most of their budgets for hours, and resolves an hour and a half after', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      // At 15 s as far as that it fires: hours take their time.
      lasts: (interval === 15 ? 2.5 : 7) * HOUR,
      processes: [one],
      second: (now) => {
        burn(one, now, 300, now < 4 * HOUR ? 3 : 0);
      },
      missed: (now) => now === 3 * HOUR,
      firing: [
        {
          alert: 'BudgetBurnSlow',
          after: HOUR,
          by: 2 * HOUR,
          ...(interval === 60 && { until: 4 * HOUR, gone: 5.5 * HOUR }),
        },
      ],
    });
  });

  it('is silent about two of five, and about an agent that has just been started with a dead tool', async () => {
    const less = new SimulatedProcess({ agent: 'less' });
    const young = new SimulatedProcess({ agent: 'young' });
    await run({
      interval,
      of: ['BudgetBurnSlow'],
      lasts: 4 * HOUR,
      processes: [less, young],
      second: (now) => {
        burn(less, now, 300, 2);
        burn(young, now, 60, now < 0.7 * HOUR ? 3 : 0);
      },
    });
  });
});

describe.concurrent('BreakerboxBudgetBurnSlow after a fast burn of two hours', () => {
  const interval = 60;
  const of = ['BudgetBurnFast', 'BudgetBurnSlow'];
  const end = 2 * HOUR;
  const fast = { alert: 'BudgetBurnFast', after: 120, by: 540, until: end, gone: end + 1300 };

  it('is silent, though the burn is in its windows still, where sessions are well again', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 3.7 * HOUR,
      processes: [one],
      second: (now) => {
        burn(one, now, 60, now < end ? 5 : 0);
      },
      missed: (now) => now === 1.5 * HOUR,
      firing: [fast],
    });
  });

  it('fires half an hour later, where they go on to lose more than half', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [one],
      second: (now) => {
        burn(one, now, 60, now < end ? 5 : 3);
      },
      firing: [fast, { alert: 'BudgetBurnSlow', after: end + 1800, by: end + 2400 }],
    });
  });
});

it.concurrent('burn rates are nothing, and not NaN, where nothing was granted', async () => {
  const idle = new SimulatedProcess({ agent: 'idle' });
  const late = new SimulatedProcess({ agent: 'late' });
  await run({
    interval: 60,
    of: ['BudgetBurnFast', 'BudgetBurnSlow'],
    lasts: 3 * HOUR,
    processes: [idle, late],
    second: (now) => {
      if (now > HOUR && now < 1.5 * HOUR) burn(late, now - HOUR, 60, 1);
    },
    // Nothing but NaN differs from itself.
    never: ['5m', '30m', '1h', '6h']
      .map((window) => `job_agent:breakerbox_budget_burn:ratio${window}`)
      .map((name) => `${name} != ${name}`),
  });
});

it.concurrent('BreakerboxBudgetBurnFast and …Slow say how much', async () => {
  const [fast, slow] = ['fast', 'slow'].map((agent) => new SimulatedProcess({ agent }));
  if (fast === undefined || slow === undefined) return;
  const link = '/d/breakerbox-failure-budget?var-job=fleet&var-agent=';
  const runbook = 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks';
  await run({
    interval: 60,
    of: ['BudgetBurnFast', 'BudgetBurnSlow'],
    lasts: 3 * HOUR,
    processes: [fast, slow],
    second: (now) => {
      burn(fast, now, 60, 5);
      burn(slow, now, 60, 3);
    },
    firing: [
      { alert: 'BudgetBurnFast', after: 0, by: 600 },
      { alert: 'BudgetBurnSlow', after: 0, by: 2 * HOUR },
    ],
    exactly: [
      {
        at: 3 * HOUR,
        alert: 'BudgetBurnFast',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'fast', severity: 'critical' },
            exp_annotations: {
              summary: 'Sessions of agent fast use up their failure budgets',
              description:
                'Agent fast (job fleet) has used up 100% of the failures that its sessions were granted in the last hour, and goes on at more than 80 %. Most sessions stop before they are done.',
              runbook_url: `${runbook}/BreakerboxBudgetBurnFast.md`,
              dashboard_url: `${link}fast`,
            },
          },
        ],
      },
      {
        at: 3 * HOUR,
        alert: 'BudgetBurnSlow',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'slow', severity: 'warning' },
            exp_annotations: {
              summary: 'Sessions of agent slow have been short of failure budget for hours',
              description:
                'Agent slow (job fleet) has used up 60% of the failures that its sessions were granted in the last 6 hours, and goes on at more than 50 %. A bad moment more, and sessions stop before they are done.',
              runbook_url: `${runbook}/BreakerboxBudgetBurnSlow.md`,
              dashboard_url: `${link}slow`,
            },
          },
        ],
      },
    ],
  });
});

it.concurrent('BreakerboxBudgetBurnSlow is silent where most sessions are older than the window: who was granted what they use up', async () => {
  const one = new SimulatedProcess();
  await run({
    interval: 60,
    of: ['BudgetBurnFast', 'BudgetBurnSlow'],
    lasts: 6 * HOUR,
    processes: [one],
    second: (now) => {
      if (now === 0) one.begin(100);
      if (now % 900 === 450) one.begin();
      if (now % 225 === 30) one.charge();
    },
  });
});
