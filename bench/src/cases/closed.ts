import { guard } from '@breakerbox/instrumentation';
import { type Attributes, context, trace } from '@opentelemetry/api';
import type { Measure, Sdk } from '../contest.ts';
import { afterFailure, byHand, byHandInContext, oneToolBox } from '../ours.ts';
import { callRacers, cockatielCircuit, opossumCircuit, opossumMetrics } from '../peers.ts';
import { type Racer, race } from '../race.ts';
import { lastSpan } from '../sdk.ts';
import { TOOL, tool } from '../tool.ts';

/** The least that a caller needs to learn how a call ended: an async function that awaits it. */
const wrapped = async (input: number): Promise<number> => {
  try {
    return await tool(input);
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error));
  }
};

const clockTwice = (): number => {
  const begun = performance.now();
  return performance.now() - begun;
};

/** A span with the same attributes as ours, and nothing else. */
const bareSpan = (): (() => void) => {
  const tracer = trace.getTracer('bench');
  let like: { name: string; attributes: Attributes } | undefined;
  return () => {
    like ??= { name: lastSpan()?.name ?? TOOL, attributes: { ...(lastSpan()?.attributes as Attributes) } };
    tracer.startSpan(like.name, { attributes: like.attributes }).end();
  };
};

const enterContext = (): (() => void) => {
  const inside = context.active().setValue(Symbol('bench'), 1);
  return () => context.with(inside, () => {});
};

const floors = (sdk: Sdk): readonly Racer[] => [
  { id: 'wrapper', title: 'an async function with try around the call', by: 'floor', run: () => wrapped(1) },
  { id: 'clock', title: 'two reads of performance.now()', by: 'floor', run: clockTwice, sync: true },
  { id: 'context', title: 'a function run in an OpenTelemetry context', by: 'floor', run: enterContext(), sync: true },
  ...(sdk === 'sampled' || sdk === 'unsampled'
    ? ([
        { id: 'span', title: 'a span with our attributes, made and ended', by: 'floor', run: bareSpan(), sync: true },
      ] as const)
    : []),
];

const contestants = (sdk: Sdk): readonly Racer[] => {
  const box = oneToolBox();
  const session = box.session();
  const hand = byHand(session, tool);
  const inContext = byHandInContext(session, tool);
  const guarded = guard(box.session(), TOOL, tool);
  const cockatiel = cockatielCircuit();
  const opossum = opossumCircuit();
  const measured = opossumCircuit();
  opossumMetrics([measured]);
  const again = afterFailure((one) => byHand(one, tool));
  const ofObject = guard(box.session(), TOOL, async (input: { readonly page: number }) => input.page);
  const input = { query: 'weather in Oslo', page: 1 };
  return [
    ...callRacers({
      bare: () => tool(1),
      cockatiel: () => cockatiel.execute(() => tool(1)),
      opossum: () => opossum.fire(1),
      measured: () => measured.fire(1),
      hand: () => hand(1),
      inContext: () => inContext(1),
      guarded: () => guarded(1),
    }),
    { id: 'hand-again', title: 'Breakerbox, by hand after a failure', by: 'breakerbox', run: () => again(1) },
    { id: 'guard-object', title: 'Breakerbox, guard() of an object', by: 'breakerbox', run: () => ofObject(input) },
    ...floors(sdk),
  ];
};

/** A tool that works, called in a closed circuit. Nearly every call of an agent is of this kind. */
export const measure: Measure = (pace, sdk) => race(contestants(sdk), pace);
