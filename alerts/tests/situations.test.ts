/** Whole situations with all rules: exactly these alerts fire at these times, and no other. */
import { describe, it } from 'vitest';
import { run } from './bench.ts';
import { agents, instances, SimulatedProcess } from './process.ts';

const TOOLS = ['web_search', 'fetch_page', 'calculator'];
const AGENTS = ['research', 'support', 'ops'];

/** Sessions of two minutes, one after the other. Among many successes, a healthy tool fails now and then. */
const healthy = (one: SimulatedProcess, now: number): void => {
  if (now % 120 === 0) {
    if (now > 0) one.end();
    one.begin();
  }
  if (now % 10 === 5) for (const tool of TOOLS) one.call(tool, now % 200 === 105 ? 'timeout' : 'success');
};

/** What a tool of one long session fails with from one second to another. It is probed every 5 minutes. */
interface Outage {
  readonly tool: string;
  readonly from: number;
  readonly to: number;
  readonly category: 'network' | 'server';
  readonly circuits?: number;
}

const failing = (one: SimulatedProcess, now: number, { tool, from, to, category, circuits }: Outage): void => {
  if (now % 10 === 5) for (const each of TOOLS) if (each !== tool || now < from || now > to) one.call(each, 'success');
  if (now === from) one.open(now, tool, category, circuits);
  if (now > from && now < to && now % 300 === 0) one.probe(tool, category, circuits);
  if (now > from && now < to && now % 20 === 0) one.skip(tool);
  if (now === to) one.probe(tool, 'success', circuits);
};

describe.concurrent.each([
  [15, 30],
  [60, 60],
])('scraped every %i s, evaluated every %i s', (interval, evaluation) => {
  const lag = 2 * evaluation;
  const every = { interval, evaluation };

  it('a working fleet fires no alert during restarts, missed scrapes and short openings', () => {
    const missed = (now: number) => now === 1200 || now === 2400;
    const processes = agents(AGENTS, { tools: TOOLS });
    return run({ ...every, lasts: 5400, processes, sessions: 0, missed }, (now, ...fleet) => {
      for (const [index, one] of fleet.entries()) {
        const restart = 3600 + index * 300;
        if (now === restart) one.start();
        healthy(one, (now < restart ? now : now - index * 300) % 3600);
        // One opening every half hour, over after a minute.
        if (now % 1800 === 610 + index * 240) one.open(now, 'web_search', 'timeout');
        if (now % 1800 === 670 + index * 240) one.probe('web_search', 'success');
      }
    });
  });

  it('an outage of one tool fires only BreakerboxCircuitOpen, while it lasts', () => {
    const [from, to] = [1810, 3610];
    const processes = agents(['research', 'support'], { tools: TOOLS });
    const times = { after: from + 300, by: from + 375 + lag, until: to - 1, gone: to + 195 + lag };
    const scenario = { ...every, lasts: 6000, processes, sessions: 0, firing: [{ alert: 'CircuitOpen', ...times }] };
    return run(scenario, (now, hit, other) => {
      healthy(other, now);
      if (now === 0) hit.begin(3);
      failing(hit, now, { tool: 'web_search', from, to, category: 'network', circuits: 3 });
    });
  });

  it('a budget burn whose sessions run out fires BreakerboxBudgetExhausted alone', () => {
    const from = 3600;
    const firing = [{ alert: 'BudgetExhausted', after: from + 100, by: from + 120 + lag }];
    const processes = [new SimulatedProcess({ tools: TOOLS })];
    return run({ ...every, lasts: 3 * 3600, processes, firing }, (now, one) => {
      // Five failures of different tools among twenty calls. Then the session is paused, and an operator resumes a new one.
      if (now > 0 && now % 120 === 0) {
        one.end(1, {}, now > from ? 'paused_budget' : 'active');
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
    });
  });

  it.each([
    ['one cause in three processes', 'agent', instances(['1', '2', '3'], { tools: TOOLS }), TOOLS],
    ['one failed service on three agents', 'fleet', agents(AGENTS, { tools: TOOLS }), ['web_search']],
  ])('%s fires BreakerboxCorrelatedOpenings of scope %s, and the alerts that it mutes', (_, scope, processes, lost) => {
    const [from, to] = [1810, 3010];
    const firing = [
      {
        alert: 'CorrelatedOpenings',
        scope,
        after: from + 70,
        by: from + 70 + lag,
        until: to + 250,
        gone: to + 400 + lag,
      },
      // Alertmanager mutes them. All of them resolve before the alert that mutes them does.
      { alert: 'CircuitOpen', count: 3, after: from + 300, by: from + 445 + lag, until: to - 1, gone: to + 195 + lag },
    ];
    return run({ ...every, lasts: 5400, processes, firing }, (now, ...all) => {
      for (const [index, one] of all.entries()) {
        const tool = lost[index % lost.length] ?? '';
        failing(one, now, { tool, from: from + index * 35, to, category: 'server' });
      }
    });
  });

  it('an agent that vanishes during its work fires only BreakerboxTelemetryAbsent', () => {
    const firing = [{ alert: 'TelemetryAbsent', after: 1850 + 270, by: 1850 + 300 + lag }];
    const processes = agents(AGENTS, { tools: TOOLS });
    return run({ ...every, lasts: 3600, processes, sessions: 0, firing }, (now, ...fleet) => {
      for (const [index, one] of fleet.entries()) if (index < 2 || now < 1850) healthy(one, now);
      if (now === 1850) fleet[2]?.stop();
    });
  });
});
