import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { ConsecutiveBreaker } from 'cockatiel';
import type { Measure } from '../contest.ts';
import { AGENT, byHand, byHandInContext, oneToolBox, resuming } from '../ours.ts';
import { callRacers, cockatielCircuit, opossumCircuit, opossumMetrics } from '../peers.ts';
import { type Racer, race } from '../race.ts';
import { brokenTool, caught, failsAtZero, NEVER, TOOL } from '../tool.ts';

const contestants = (): readonly Racer[] => {
  const box = oneToolBox({ failureThreshold: NEVER });
  const session = box.session();
  const hand = resuming(session, byHand(session, brokenTool));
  const within = box.session();
  const inContext = resuming(within, byHandInContext(within, brokenTool));
  const other = box.session();
  const guarded = resuming(other, guard(other, TOOL, brokenTool));
  let input = 0;
  const cockatiel = cockatielCircuit(new ConsecutiveBreaker(NEVER));
  const opossum = opossumCircuit(brokenTool, { errorThresholdPercentage: 100 });
  const measured = opossumCircuit(brokenTool, { errorThresholdPercentage: 100 });
  opossumMetrics([measured]);
  const usual = failsTwice(byHand(createBreakerbox({ agent: AGENT, tools: { [TOOL]: {} } }).session(), failsAtZero));
  const peer = cockatielCircuit();
  const usualPeer = failsTwice((given) => peer.execute(() => failsAtZero(given)));
  const defaults: readonly Racer[] = [
    {
      id: 'cockatiel-default',
      title: 'cockatiel, two failures and a success',
      by: 'cockatiel',
      run: usualPeer,
      jobs: 3,
    },
    { id: 'hand-default', title: 'Breakerbox by default, the same', by: 'breakerbox', run: usual, jobs: 3 },
  ];
  const calls = callRacers({
    bare: caught(() => brokenTool(1)),
    cockatiel: caught(() => cockatiel.execute(() => brokenTool(1))),
    opossum: caught(() => opossum.fire(1)),
    measured: caught(() => measured.fire(1)),
    hand: caught(() => hand(1)),
    inContext: caught(() => inContext(1)),
    guarded: caught(() => guarded(input++)),
  });
  return [...calls, ...defaults];
};

/** Two failures and a success leave the circuit closed and the budget of the default configuration in use. */
const failsTwice = (call: (input: number) => Promise<number>) => async (): Promise<void> => {
  await caught(() => call(0))();
  await caught(() => call(0))();
  await call(1);
};

/** A tool that fails, in a circuit that stays closed: the failure is classified, charged and counted. */
export const measure: Measure = (pace) => race(contestants(), pace);
