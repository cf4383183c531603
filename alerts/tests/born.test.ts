import { describe, it } from 'vitest';
import { run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

/** At work for a day: sessions have run out, events have been, circuits have opened. All of it is over. */
const experienced = (instance: string): SimulatedProcess => {
  const one = new SimulatedProcess({ instance });
  one.begin();
  for (const state of ['paused_budget', 'paused_systemic'] as const) {
    one.pause(state);
    one.pause(state, -1);
  }
  for (let opening = 0; opening < 8; opening += 1) {
    one.open(-86_400, 't');
    one.probe('t', 'success');
  }
  return one;
};

/** What a scrape finds of it, as long as it is found at all. */
const foundWhile = (one: SimulatedProcess, found: () => boolean): SimulatedProcess => {
  const read = one.read.bind(one);
  one.read = () => (found() ? read() : new Map());
  return one;
};

const OF = ['BudgetExhausted', 'SystemicFailure', 'CircuitFlapping', 'BudgetBurnFast', 'BudgetBurnSlow'];

describe.concurrent.each([15, 60])('what counters have gathered in their lives is no news, every %i s', (interval) => {
  it('to a fresh Prometheus, which finds the processes of an agent one after the other', async () => {
    let time = 0;
    const late = foundWhile(experienced('2'), () => time >= interval);
    const later = foundWhile(experienced('3'), () => time >= 2 * interval);
    await run(
      {
        interval,
        of: OF,
        lasts: 2400,
        processes: [experienced('1'), late, later],
        second: (now) => {
          time = now;
        },
      },
      1,
    );
  });

  it('when one replica is found again after 80 minutes, and the others were there all along', async () => {
    let time = 0;
    const lost = foundWhile(experienced('2'), () => time < 1800 || time >= 6600);
    await run(
      {
        interval: 60,
        evaluation: interval,
        of: OF,
        lasts: 8400,
        processes: [experienced('1'), lost],
        second: (now) => {
          time = now;
        },
      },
      1,
    );
  });
});
