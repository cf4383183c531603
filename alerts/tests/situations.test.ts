/** Whole situations with all rules: exactly these alerts fire at these times, and no other. */
import { describe, it } from 'vitest';
import { run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const TOOLS = ['web_search', 'fetch_page', 'calculator'];

/** Sessions of two minutes, one after the other. Among many successes, a healthy tool fails now and then. */
const healthy = (one: SimulatedProcess, now: number, except: readonly string[] = []): void => {
  if (now % 120 === 0) {
    if (now > 0) one.end();
    one.begin();
  }
  if (now % 10 !== 5) return;
  for (const tool of TOOLS) if (!except.includes(tool)) one.call(tool, now % 200 === 105 ? 'timeout' : 'success');
};

describe.concurrent.each([
  [15, 30],
  [60, 60],
])('scraped every %i s, evaluated every %i s', (interval, evaluation) => {
  const lag = 2 * evaluation;

  it('a working fleet fires no alert during restarts, missed scrapes and short openings', async () => {
    const fleet = ['research', 'support', 'ops'].map((agent) => new SimulatedProcess({ agent, tools: TOOLS }));
    await run({
      interval,
      evaluation,
      lasts: 5400,
      processes: fleet,
      second: (now) => {
        fleet.forEach((one, index) => {
          if (now === 3600 + index * 300) one.start();
          healthy(one, (now - (now >= 3600 + index * 300 ? index * 300 : 0)) % 3600);
          // One opening every half hour, over after a minute.
          if (now % 1800 === 610 + index * 240) one.open(now, 'web_search', 'timeout');
          if (now % 1800 === 670 + index * 240) one.probe('web_search', 'success');
        });
      },
      missed: (now) => now === 1200 || now === 2400,
    });
  });

  it('an outage of one tool fires only BreakerboxCircuitOpen, while it lasts', async () => {
    const [hit, other] = ['research', 'support'].map((agent) => new SimulatedProcess({ agent, tools: TOOLS }));
    if (hit === undefined || other === undefined) return;
    const [from, to] = [1810, 3610];
    await run({
      interval,
      evaluation,
      lasts: 6000,
      processes: [hit, other],
      second: (now) => {
        healthy(other, now);
        // One long session that probes every 5 minutes.
        if (now === 0) hit.begin(3);
        if (now % 10 === 5) for (const tool of TOOLS) if (tool !== 'web_search') hit.call(tool, 'success');
        if (now % 10 === 5 && (now < from || now > to)) hit.call('web_search', 'success');
        if (now === from) hit.open(now, 'web_search', 'network', 3);
        if (now > from && now < to && now % 300 === 0) hit.probe('web_search', 'network', 3);
        if (now > from && now < to && now % 20 === 0) hit.skip('web_search');
        if (now === to) hit.probe('web_search', 'success', 3);
      },
      firing: [{ alert: 'CircuitOpen', after: from + 300, by: from + 375 + lag, until: to - 1, gone: to + 195 + lag }],
    });
  });

  it('a budget burn fires BreakerboxBudgetBurnFast and BreakerboxBudgetExhausted, but not BreakerboxBudgetBurnSlow', async () => {
    const one = new SimulatedProcess({ tools: TOOLS });
    const from = 3600;
    await run({
      interval,
      evaluation,
      lasts: 3 * 3600,
      processes: [one],
      second: (now) => {
        // Five failures of different tools among twenty calls. Then the session is paused, and an operator resumes a new one.
        if (now % 120 === 0) {
          if (now > from) one.end(1, {}, 'paused_budget');
          else if (now > 0) one.end();
          one.begin();
        }
        if (now % 5 === 0) one.call('calculator', 'success');
        if (now % 10 === 5) for (const tool of ['web_search', 'fetch_page']) one.call(tool, 'success');
        if (now > from && now % 120 !== 0 && now % 20 === 0) {
          one.call(TOOLS[(now / 20) % 3] ?? 'calculator', 'timeout');
          one.charge();
        }
        if (now >= from && now % 120 === 80) one.fallLow();
        if (now >= from && now % 120 === 101) one.pause('paused_budget');
      },
      firing: [
        { alert: 'BudgetExhausted', after: from + 100, by: from + 120 + lag },
        { alert: 'BudgetBurnFast', after: from + 1800, by: from + 3600 },
      ],
    });
  });

  it('one cause in three processes fires BreakerboxCorrelatedOpenings, and the alerts of the tools that it mutes', async () => {
    const processes = ['1', '2', '3'].map((instance) => new SimulatedProcess({ instance, tools: TOOLS }));
    const [from, to] = [1810, 3010];
    await run({
      interval,
      evaluation,
      lasts: 5400,
      processes,
      second: (now) => {
        processes.forEach((one, index) => {
          const lost = TOOLS[index] ?? '';
          const at = from + index * 35;
          if (now === 0) one.begin();
          if (now % 10 === 5)
            for (const tool of TOOLS) if (tool !== lost || now < at || now > to) one.call(tool, 'success');
          if (now === at) one.open(now, lost, 'network');
          if (now > at && now < to && now % 300 === 0) one.probe(lost, 'network');
          if (now === to) one.probe(lost, 'success');
        });
      },
      firing: [
        {
          alert: 'CorrelatedOpenings',
          scope: 'agent',
          after: from + 70,
          by: from + 70 + lag,
          until: to + 250,
          gone: to + 400 + lag,
        },
        // Alertmanager mutes them. All of them resolve before the alert that mutes them does.
        {
          alert: 'CircuitOpen',
          count: 3,
          after: from + 300,
          by: from + 445 + lag,
          until: to - 1,
          gone: to + 195 + lag,
        },
      ],
    });
  });

  it('one failed service on three agents fires BreakerboxCorrelatedOpenings of scope fleet, and the alerts of the agents that it mutes', async () => {
    const agents = ['research', 'support', 'ops'].map(
      (agent, index) => new SimulatedProcess({ agent, job: `job-${index}`, tools: TOOLS }),
    );
    const [from, to] = [1810, 3010];
    await run({
      interval,
      evaluation,
      lasts: 5400,
      processes: agents,
      second: (now) => {
        agents.forEach((one, index) => {
          const at = from + index * 35;
          if (now === 0) one.begin();
          if (now % 10 === 5) {
            for (const tool of TOOLS) if (tool !== 'web_search' || now < at || now > to) one.call(tool, 'success');
          }
          if (now === at) one.open(now, 'web_search', 'server');
          if (now > at && now < to && now % 300 === 0) one.probe('web_search', 'server');
          if (now === to) one.probe('web_search', 'success');
        });
      },
      firing: [
        {
          alert: 'CorrelatedOpenings',
          scope: 'fleet',
          after: from + 70,
          by: from + 70 + lag,
          until: to + 250,
          gone: to + 400 + lag,
        },
        {
          alert: 'CircuitOpen',
          count: 3,
          after: from + 300,
          by: from + 445 + lag,
          until: to - 1,
          gone: to + 195 + lag,
        },
      ],
    });
  });

  it('an agent that vanishes during its work fires only BreakerboxTelemetryAbsent', async () => {
    const fleet = ['research', 'support', 'ops'].map((agent) => new SimulatedProcess({ agent, tools: TOOLS }));
    await run({
      interval,
      evaluation,
      lasts: 3600,
      processes: fleet,
      second: (now) => {
        fleet.forEach((one, index) => {
          if (index < 2 || now < 1850) healthy(one, now);
        });
        if (now === 1850) fleet[2]?.stop();
      },
      firing: [{ alert: 'TelemetryAbsent', after: 1850 + 270, by: 1850 + 300 + lag }],
    });
  });
});
