import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const RUNBOOKS = 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks';

describe.concurrent.each(INTERVALS)('BreakerboxBudgetExhausted, every %i s', (interval) => {
  const of = among(interval, 'BudgetExhausted');

  it('fires while sessions are paused, across a missed scrape, and is kept for 15 minutes after', async () => {
    const [first, second] = ['1', '2'].map((instance) => new SimulatedProcess({ instance }));
    if (first === undefined || second === undefined) return;
    await run({
      interval,
      of,
      lasts: 1500,
      processes: [first, second],
      second: (now) => {
        if (now === 0) for (const one of [first, second]) one.begin(2);
        if (now === 60) first.pause('paused_budget', 2);
        if (now === 60) second.pause('paused_budget');
        if (now === 400) first.pause('paused_budget', -2);
        if (now === 400) second.pause('paused_budget', -1);
      },
      missed: (now) => now === 300,
      firing: [{ alert: 'BudgetExhausted', after: 60, by: 60 + 2 * interval, until: 1295, gone: 1300 + 2 * interval }],
      exactly: [
        {
          at: 360,
          alert: 'BudgetExhausted',
          alerts: [
            {
              exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', severity: 'critical' },
              exp_annotations: {
                summary: 'Sessions of agent a have used up their failure budget',
                description:
                  'At least one session of agent a (job fleet) is paused with no failure budget left, or ran out within the last 18 minutes and was resumed or ended since. A paused session calls no tool until you resume it.',
                runbook_url: `${RUNBOOKS}/BreakerboxBudgetExhausted.md`,
                dashboard_url: '/d/breakerbox-failure-budget?var-job=fleet&var-agent=a',
              },
            },
          ],
        },
      ],
    });
  });

  it('sees a session that ends between two scrapes, and does not fire again after a restart', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 1600,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 361) {
          one.pause('paused_budget');
          one.end(1, {}, 'paused_budget');
        }
        if (now === 900) one.start();
      },
      firing: [
        { alert: 'BudgetExhausted', after: 361, by: 361 + 2 * interval, until: 1380, gone: 1470 + 2 * interval },
      ],
    });
  });

  it('is silent about a budget with one failure left, and about old exhaustions', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 900,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin(3);
        if (now > 0 && now <= 4) one.charge();
      },
      missed: (now) => now > 300 && now < 500,
    });
  });
});

describe.concurrent.each(INTERVALS)('BreakerboxSystemicFailure, every %i s', (interval) => {
  const of = among(interval, 'SystemicFailure');

  it('fires at once with the names of the tools, keeps firing while they recover, and resolves after ten minutes', async () => {
    const one = new SimulatedProcess({ tools: ['web_search', 'fetch_page', 'calculator'] });
    await run({
      interval,
      of,
      lasts: 1500,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin(2);
        if (now === 60) {
          one.open(now, 'web_search');
          one.open(now, 'fetch_page');
          one.pause('paused_systemic', 2);
        }
        if (now === 300) one.pause('paused_systemic', -2);
        if (now === 480) for (const tool of ['web_search', 'fetch_page']) one.probe(tool, 'success');
      },
      missed: (now) => now === 180,
      firing: [
        { alert: 'SystemicFailure', after: 60, by: 60 + 2 * interval, until: 895, gone: 900 + 2 * interval },
        ...(of
          ? []
          : [
              {
                alert: 'CircuitOpen',
                count: 2,
                after: 360,
                by: 435 + 2 * interval,
                until: 479,
                gone: 680 + 2 * interval,
              },
            ]),
      ],
      exactly: [
        {
          at: 240,
          alert: 'SystemicFailure',
          alerts: [
            {
              exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', severity: 'critical' },
              exp_annotations: {
                summary: 'Several tools of agent a have failed together',
                description:
                  'Agent a (job fleet) has recognised failures of several tools as one event. Open: fetch_page web_search. Look for what they share. In scope session, the session of the event is paused and probes nothing until you confirm the recovery. In scope process, calls of the affected tools are skipped, and a probe ends the event when it succeeds.',
                runbook_url: `${RUNBOOKS}/BreakerboxSystemicFailure.md`,
                dashboard_url: '/d/breakerbox-correlated-failures?var-job=fleet&var-agent=a',
              },
            },
          ],
        },
      ],
    });
  });

  it('fires in scope process, without paused sessions, until the event is over', async () => {
    const one = new SimulatedProcess({ tools: ['t', 'u', 'v'] });
    await run({
      interval,
      of: ['SystemicFailure'],
      lasts: 2100,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin(3);
        if (now === 60) {
          for (const tool of ['t', 'u']) one.open(now, tool);
          one.event();
        }
        if (now > 60 && now % 10 === 0) one.call('v', 'success');
        if (now === 960) {
          one.probe('t', 'success');
          one.event(-1);
        }
      },
      missed: (now) => now === 600,
      firing: [{ alert: 'SystemicFailure', after: 60, by: 60 + 2 * interval, until: 1555, gone: 1560 + 2 * interval }],
    });
  });

  it('sees an event whose session ends at once; two tools that open apart are not an event', async () => {
    const event = new SimulatedProcess({ agent: 'event' });
    const apart = new SimulatedProcess({ agent: 'apart', tools: ['t', 'u'] });
    await run({
      interval,
      of,
      lasts: 1500,
      processes: [event, apart],
      second: (now) => {
        if (now === 0) for (const one of [event, apart]) one.begin();
        if (now === 361) {
          event.pause('paused_systemic');
          event.end(1, {}, 'paused_systemic');
        }
        if (now === 100) apart.open(now, 't', 'network');
        if (now === 160) apart.probe('t', 'success');
        if (now === 100) apart.open(now, 'u', 'timeout');
        if (now === 160) apart.probe('u', 'success');
      },
      firing: [
        { alert: 'SystemicFailure', after: 361, by: 361 + 2 * interval, until: 1080, gone: 1170 + 2 * interval },
      ],
    });
  });
});

it.concurrent('sees a new process that is first scraped after its session ran out, if the agent has others', async () => {
  const old = new SimulatedProcess({ instance: 'old' });
  const fresh = new SimulatedProcess({ instance: 'fresh' });
  fresh.stop();
  await run({
    interval: 60,
    of: ['BudgetExhausted', 'SystemicFailure'],
    lasts: 2100,
    processes: [old, fresh],
    second: (now) => {
      if (now === 0) old.begin();
      if (now === 601) {
        fresh.start();
        fresh.begin();
        fresh.pause('paused_budget');
        fresh.end(1, {}, 'paused_budget');
      }
    },
    firing: [{ alert: 'BudgetExhausted', after: 601, by: 720, until: 1620, gone: 1860 }],
  });
});

it.concurrent.each([15, 60])(
  'BreakerboxBudgetExhausted is one alert when an agent runs out every 5 minutes, every %i s',
  async (interval) => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of: ['BudgetExhausted'],
      lasts: 3600,
      processes: [one],
      second: (now) => {
        if (now % 300 === 0) one.begin();
        if (now % 300 !== 206) return;
        one.pause('paused_budget');
        one.end(1, {}, 'paused_budget');
      },
      firing: [{ alert: 'BudgetExhausted', after: 206, by: 206 + 2 * interval }],
    });
  },
);
