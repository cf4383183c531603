import { createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation';
import { worked } from './cpu.ts';

/** What `guardModels` takes of the processor for a request and for each part of a stream, beside the same model without it (L4). */

const NS_PER_US = 1e3;
const ROUNDS = 9;
const REQUESTS = 5_000;
const STREAMS = 10;
const PARTS = 2_000;

const LEAST = { request: 5, part: 1 };

const answer = async (prompt: string): Promise<string> => prompt;

async function* parts(): AsyncGenerator<string> {
  for (let part = 0; part < PARTS; part += 1) yield 'word';
}

const guarded = <Answer>(call: (prompt: string) => Answer | PromiseLike<Answer>) =>
  guardModels(createBreakerbox({ agent: 'bench' }), {
    models: [
      { name: 'openai/gpt-5', call },
      { name: 'anthropic/claude-opus-5', call },
    ],
  });

const askAll = async (ask: (prompt: string) => Promise<string>): Promise<number> => {
  const before = worked();
  for (let request = 0; request < REQUESTS; request += 1) await ask('Hi');
  return (worked() - before) / REQUESTS / NS_PER_US;
};

const readAll = async (open: () => Promise<AsyncIterable<string>>): Promise<number> => {
  const before = worked();
  for (let stream = 0; stream < STREAMS; stream += 1) for await (const _ of await open());
  return (worked() - before) / STREAMS / PARTS / NS_PER_US;
};

/** The median of the differences: each round measures both, one after the other. */
const added = async (bare: () => Promise<number>, own: () => Promise<number>): Promise<number> => {
  const differences: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const [without, withGuard] = [await bare(), await own()];
    if (round >= 0) differences.push(withGuard - without);
  }
  return differences.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0;
};

const row = (what: string, us: number, most: number): string =>
  `${what.padEnd(34)}${us.toFixed(2).padStart(8)} µs   at most ${most} µs   ${us <= most ? 'kept' : 'NOT KEPT'}`;

/** What `pnpm bench -- models` prints. */
export const modelsReport = async (): Promise<string> => {
  const ask = guarded(answer);
  const stream = guarded((_: string): AsyncIterable<string> => parts());
  const request = await added(
    () => askAll(answer),
    () => askAll(ask),
  );
  const part = await added(
    () => readAll(async () => parts()),
    () => readAll(() => stream('Hi')),
  );
  return [
    'Processor time that guardModels() adds, healthy models, no telemetry SDK:',
    row('a request without a stream', request, LEAST.request),
    row('a part of a stream', part, LEAST.part),
    '',
  ].join('\n');
};
