import { describe, it } from 'vitest';
import { run, wanted } from './bench.ts';
import { instances, type SimulatedProcess } from './process.ts';

/** Processes that have worked for a day. Sessions ran out, events happened, circuits opened, and all of it is over. */
const experienced = (count: number): SimulatedProcess[] => {
  const processes = instances(['1', '2', '3'].slice(0, count));
  for (const one of processes) {
    one.begin();
    for (const state of ['paused_budget', 'paused_systemic'] as const) {
      one.pause(state);
      one.pause(state, -1);
    }
    for (let opening = 0; opening < 8; opening += 1) {
      one.open(-86_400, 't');
      one.probe('t', 'success');
    }
  }
  return processes;
};

/** Prometheus scrapes the process only while this is true. */
const foundWhile = (one: SimulatedProcess | undefined, found: () => boolean): void => {
  const read = one?.read.bind(one);
  if (one && read) one.read = () => (found() ? read() : new Map());
};

const of = ['BudgetExhausted', 'SystemicFailure', 'CircuitFlapping', 'BudgetBurnFast', 'BudgetBurnSlow'];

describe.concurrent.each(wanted(15, 60))('totals of old counters fire no alert, every %i s', (interval) => {
  it('when a new Prometheus finds the processes of an agent one after the other', () => {
    let time = 0;
    const processes = experienced(3);
    foundWhile(processes[1], () => time >= interval);
    foundWhile(processes[2], () => time >= 2 * interval);
    return run({ interval, of, lasts: 2400, processes, sessions: 0, orders: 1 }, (now) => {
      time = now;
    });
  });

  it('when one replica comes back after 80 minutes, and the others were there all the time', () => {
    let time = 0;
    const processes = experienced(2);
    foundWhile(processes[1], () => time < 1800 || time >= 6600);
    const scenario = { interval: 60, evaluation: interval, of, lasts: 8400, processes, sessions: 0, orders: 1 };
    return run(scenario, (now) => {
      time = now;
    });
  });
});
