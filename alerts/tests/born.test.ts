import { describe, it } from 'vitest';
import { run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

/** A process that has worked for a day. Sessions ran out, events happened, circuits opened, and all of it is over. */
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

/** The samples of a scrape while the process is up. */
const foundWhile = (one: SimulatedProcess, found: () => boolean): SimulatedProcess => {
  const read = one.read.bind(one);
  one.read = () => (found() ? read() : new Map());
  return one;
};

const OF = ['BudgetExhausted', 'SystemicFailure', 'CircuitFlapping', 'BudgetBurnFast', 'BudgetBurnSlow'];

describe.concurrent.each([15, 60])('totals of old counters fire no alert, every %i s', (interval) => {
  it('when a new Prometheus finds the processes of an agent one after the other', async () => {
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

  it('when one replica comes back after 80 minutes, and the others were there all the time', async () => {
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
