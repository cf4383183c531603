import { ATTR, type Breakerbox, createBreakerbox, METRIC } from '@breakerbox/core';
import { boxModels, openSeries } from '@breakerbox/core/internal';
import type { GuardModelsOptions } from '@breakerbox/instrumentation/ai-sdk';
import { describe, expect, test } from 'vitest';
import { type Fault, faultsOf } from './faults.ts';
import {
  answers,
  type Behaviour,
  cached,
  hangs,
  type LoopbackProvider,
  loopbackProvider,
  refuses,
  SSE,
  sends,
} from './loopback-provider.ts';
import { newBox } from './providers.ts';
import { EVENTS, errorBody, TEXT, toolCall, type WireFormat } from './recordings.ts';
import { foreign, strict } from './strict-provider.ts';

/** What a caller gets: the text that it saw, and the error that it was told. */
export interface Seen {
  readonly text: string;
  readonly error: unknown;
}

/** The options that every framework has. */
type FrameOptions = GuardModelsOptions & { readonly tenant?: () => string };

/** How the models of a framework are guarded and asked. */
export interface Frame<Model> {
  readonly formats: readonly WireFormat[];
  /** Two models of one provider that speak a format; the second has the key `second`, and may speak another format. */
  guard(
    box: Breakerbox,
    format: WireFormat,
    urls: readonly [string, string],
    options: FrameOptions,
    second: WireFormat,
  ): Model | Promise<Model>;
  ask(model: Model, isStream: boolean, signal?: AbortSignal): Promise<Seen>;
  /** Runs an agent with the tool `weather`, which answers `sunny`. Gives its last text. */
  loop(model: Model): Promise<string>;
}

export const overloaded = (format: WireFormat): Behaviour =>
  refuses(529, errorBody(format, 529, 'overloaded_error', 'Overloaded'));

interface Pair<Model> {
  readonly box: Breakerbox;
  readonly model: Model;
  readonly primary: LoopbackProvider;
  readonly fallback: LoopbackProvider;
}

/** Starts two providers, and guards a model on each. */
export const pairFor = async <Model>(
  frame: Frame<Model>,
  format: WireFormat,
  {
    box = newBox(),
    second = format,
    ...options
  }: FrameOptions & { readonly box?: Breakerbox; readonly second?: WireFormat } = {},
): Promise<Pair<Model>> => {
  const [primary, fallback] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const model = await frame.guard(box, format, [primary.url, fallback.url], options, second);
  return { box, primary, fallback, model };
};

/** What every framework's models must do. */
export const modelContract = <Model>(frame: Frame<Model>): void => {
  describe.each(frame.formats)('%s', (format) => {
    test.each([false, true])(
      'L1, L5: 4 requests in an outage of the primary are 4 answers (stream: %s)',
      async (isStream) => {
        const { model, primary, fallback } = await pairFor(frame, format);
        expect(await frame.ask(model, isStream)).toEqual({ text: TEXT, error: undefined });
        expect([primary.calls.length, fallback.calls.length]).toEqual([1, 0]);
        primary.behave(overloaded(format));
        for (let request = 0; request < 4; request += 1) {
          expect(await frame.ask(model, isStream)).toEqual({ text: TEXT, error: undefined });
        }
        expect([primary.calls.length, fallback.calls.length]).toEqual([1 + 2, 4]);
      },
    );

    test('L5: a probe that fails costs its user time and no answer', async () => {
      let ms = 1_000;
      const box = createBreakerbox({ agent: `probed-${format}`, clock: { now: () => ms, unixNow: () => ms } });
      const { model, primary } = await pairFor(frame, format, { box, attemptMs: 900, firstByteMs: 900 });
      primary.behave(overloaded(format));
      for (let request = 0; request < 3; request += 1) await frame.ask(model, false);
      expect(primary.calls.length).toBe(2);
      for (const isStream of [false, true]) {
        ms += 300_000;
        primary.behave(hangs);
        expect(await frame.ask(model, isStream)).toEqual({ text: TEXT, error: undefined });
      }
      expect(primary.calls.length).toBe(4);
    });

    test('L5: a loop of tools changes models in the middle, and ends well', async () => {
      const { model, primary, fallback } = await pairFor(frame, format);
      let asked = 0;
      primary.behave((call) => {
        asked += 1;
        if (asked > 1) return overloaded(format)(call);
        const { whole, events } = toolCall(format, 'weather', { city: 'Bern' });
        if (call.isStream) call.response.writeHead(200, SSE).end(events.join(''));
        else refuses(200, whole)(call);
      });
      expect(await frame.loop(model)).toBe(TEXT);
      expect(primary.calls.length).toBe(2);
      expect(JSON.stringify(fallback.calls[0]?.body)).toContain('sunny');
    });

    test.each(frame.formats)(
      'L9: a loop of tools goes to a model of %s that refuses what others made',
      async (second) => {
        const { model, box, primary, fallback } = await pairFor(frame, format, { second });
        let asked = 0;
        primary.behave((call) => {
          asked += 1;
          if (asked > 1) return overloaded(format)(call);
          const { whole } = toolCall(format, 'weather', { city: 'Bern' });
          refuses(200, foreign(format, whole))(call);
        });
        fallback.behave(strict());
        expect(await frame.loop(model)).toBe(TEXT);
        expect(JSON.stringify(fallback.calls.at(-1)?.body)).toContain('sunny');
        expect(fallback.calls.length).toBeLessThanOrEqual(2); // One cleaned attempt.
        expect(failuresOf(box, ({ tool }) => /fallback|second/.test(tool))).toBe(0);
      },
    );

    test('L2: a refused key of a tenant stops no other tenant', async () => {
      let tenant = 'a';
      const { model, primary } = await pairFor(frame, format, { tenant: () => tenant });
      primary.behave(refuses(401, errorBody(format, 401, 'authentication_error', 'invalid x-api-key')));
      for (const isStream of [false, true, false]) await frame.ask(model, isStream);
      const ofFirst = primary.calls.length;
      primary.behave(answers);
      await frame.ask(model, false);
      expect(primary.calls.length).toBe(ofFirst);
      tenant = 'b';
      for (const isStream of [false, true]) {
        expect(await frame.ask(model, isStream)).toEqual({ text: TEXT, error: undefined });
      }
      expect(primary.calls.length).toBe(ofFirst + 2);
    });

    test('L5, L6: without a model left, the call fails once, and says why', async () => {
      const { model, primary, fallback } = await pairFor(frame, format);
      for (const one of [primary, fallback]) one.behave(overloaded(format));
      for (const isStream of [false, true]) {
        const { error } = await frame.ask(model, isStream);
        expect(`${(error as Error).message}`).toMatch(/No model answered\..*primary failed: .*HTTP 529/);
      }
      expect([primary.calls.length, fallback.calls.length]).toEqual([2, 2]);
    });

    test.each([false, true])('L7: the price of an answer, the prompt cache apart (stream: %s)', async (isStream) => {
      const box = newBox({ models: PRICES });
      const { model, primary } = await pairFor(frame, format, { box });
      primary.behave(cached);
      expect(await frame.ask(model, isStream)).toEqual({ text: TEXT, error: undefined });
      // Of 100 tokens that were read, 40 are of the cache. 7 were written.
      expect(costOf(box)).toEqual([{ currency: 'USD', millionths: 60 * 2 + 40 * 0.5 + 7 * 10 }]);
    });

    test.each([false, true])("L3: an abort is the caller's, and blames no model (stream: %s)", async (isStream) => {
      const { model, box, primary, fallback } = await pairFor(frame, format);
      const caller = new AbortController();
      primary.behave(() => caller.abort(new DOMException('The time is over.', 'TimeoutError')));
      await frame.ask(model, isStream, caller.signal).catch(() => {});
      expect([primary.calls.length, fallback.calls.length]).toEqual([1, 0]);
      expect(failuresOf(box)).toBe(0);
    });
  });
};

const PRICE = { price: { input: 2, cacheRead: 0.5, output: 10, currency: 'USD' } };
export const PRICES = { 'openai/primary': PRICE, 'anthropic/primary': PRICE, 'google/primary': PRICE };

/** What the answers of a box have cost, in millionths. */
export const costOf = (box: Breakerbox) => {
  const reader = openSeries({ insteadOfSdk: false, exemplars: false });
  try {
    return [...reader.numbers(METRIC.modelCost)]
      .filter(({ attributes }) => attributes[ATTR.agent] === box.agent)
      .map(({ attributes, value }) => ({
        currency: attributes[ATTR.currency],
        millionths: Math.round(value * 1e9) / 1e3,
      }));
  } finally {
    reader.close();
  }
};

/** The failures that circuits of models count now. */
export const failuresOf = (
  box: Breakerbox,
  isMeant: (circuit: { readonly tool: string }) => boolean = () => true,
): number =>
  boxModels(box)
    .session.view()
    .circuits.filter(isMeant)
    .reduce((sum, one) => sum + one.failures, 0);

/** Short enough for a test, and long enough for the other model to answer on a busy machine. */
export const LIMITS = { firstByteMs: 1_000, firstChunkMs: 1_000, stallMs: 1_000, attemptMs: 1_000 };

/** The first model fails in this way: the caller gets the answer of the second, or an error, and the circuits count it or not. */
export const expectFault = async (
  { primary, fallback, box }: Omit<Pair<unknown>, 'model'>,
  { ends, counts = true, behaviour }: Fault,
  ask: () => Promise<Seen>,
): Promise<void> => {
  primary.behave(behaviour);
  const { text, error } = await ask();
  if (ends === 'next') {
    expect({ text, error }).toEqual({ text: TEXT, error: undefined });
  } else {
    expect(error).toBeInstanceOf(Error);
    expect(fallback.calls).toEqual([]);
  }
  expect(primary.calls.length).toBe(1); // Nothing beneath the guard calls again (L6).
  const circuits = boxModels(box)
    .session.view()
    .circuits.filter(({ tool }) => !tool.includes('fallback') && !tool.includes('second'));
  expect(circuits.some(({ failures, state }) => failures > 0 || state === 'open')).toBe(counts);
};

/** Every way to fail of a wire format, and streams that are cut in many places. */
export const faultContract = <Model>(frame: Frame<Model>, stepBytes: number): void => {
  describe.each(frame.formats)('%s', (format) => {
    const cases = faultsOf(format).flatMap((fault) =>
      (['whole', 'stream'] as const)
        .filter((of) => (fault.of ?? of) === of)
        .map((of) => [`${fault.name} (${of})`, of === 'stream', fault] as const),
    );

    test.concurrent.each(cases)('L3, L4: %s', async (_, isStream, fault) => {
      const pair = await pairFor(frame, format, fault.isSilent ? LIMITS : {});
      await expectFault(pair, fault, () => frame.ask(pair.model, isStream));
    });

    test('L4: a stream that is cut gives one whole answer or an error', async () => {
      const whole = Buffer.from(EVENTS[format].join(''));
      const seen = { error: 0, answer: 0 };
      for (let length = 0; length <= whole.length; length += stepBytes) {
        for (const end of ['end', 'reset'] as const) {
          const { model, primary, fallback } = await pairFor(frame, format);
          primary.behave(sends(whole.subarray(0, length), end));
          fallback.behave(answers);
          const { text, error } = await frame.ask(model, true);
          if (error === undefined) expect(text).toBe(TEXT);
          else expect(TEXT.startsWith(text)).toBe(true);
          seen[error === undefined ? 'answer' : 'error'] += 1;
        }
      }
      expect(Math.min(seen.answer, seen.error)).toBeGreaterThan(0);
    });
  });
};
