import { guard } from '@breakerbox/instrumentation';
import type { Measure } from '../contest.ts';
import { byHand, oneToolBox } from '../ours.ts';
import { cockatielCircuit, opossumCircuit, opossumMetrics, opossumRacers } from '../peers.ts';
import { type Racer, race } from '../race.ts';
import { brokenTool, caught, HOUR_MS, OUTAGE, TOOL } from '../tool.ts';

const FAILURES = 3;

const failOften = async (call: () => Promise<unknown>): Promise<void> => {
  for (let left = FAILURES; left > 0; left -= 1) await caught(call)();
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

const contestants = async (): Promise<readonly Racer[]> => {
  const box = oneToolBox({ cooldownMs: HOUR_MS, maxCooldownMs: HOUR_MS });
  const session = box.session();
  await failOften(() => byHand(session, brokenTool)(1));
  let input = 0;
  const guarded = guard(box.session(), TOOL, brokenTool);
  const next = () => guarded(input++); // Never the same input twice: this measures the circuit, not the loop guard.
  await failOften(next);
  const cockatiel = cockatielCircuit();
  const execute = () => cockatiel.execute(() => brokenTool(1));
  await failOften(execute);
  const opossum = opossumCircuit(brokenTool);
  const measured = opossumCircuit(brokenTool);
  opossumMetrics([measured]);
  await failOften(() => opossum.fire(1));
  await failOften(() => measured.fire(1));
  return [
    { id: 'cockatiel', title: 'cockatiel', by: 'cockatiel', run: caught(execute) },
    ...opossumRacers(
      caught(() => opossum.fire(1)),
      caught(() => measured.fire(1)),
    ),
    { id: 'acquire', title: 'Breakerbox, acquire', by: 'breakerbox', run: () => session.acquire(TOOL), sync: true },
    {
      id: 'acquire-message',
      title: 'Breakerbox, acquire and what the model is told',
      by: 'breakerbox',
      run: () => session.acquire(TOOL).message,
      sync: true,
    },
    { id: 'guard', title: 'Breakerbox, guard() and its error', by: 'breakerbox', run: caught(next) },
    {
      id: 'guard-message',
      title: "Breakerbox, guard() and its error's text",
      by: 'breakerbox',
      run: () => caught(next)().then(messageOf),
    },
    { id: 'clock', title: 'a read of performance.now()', by: 'floor', run: () => performance.now(), sync: true },
    { id: 'error', title: 'an Error with its stack', by: 'floor', run: () => new Error('unavailable'), sync: true },
    {
      id: 'rejection',
      title: 'a ready-made error, thrown and caught',
      by: 'floor',
      run: caught(() => Promise.reject(OUTAGE)),
    },
  ];
};

/** A tool that is unavailable: the answer that the agent gets instead of a result. */
export const measure: Measure = async (pace) => race(await contestants(), pace);
