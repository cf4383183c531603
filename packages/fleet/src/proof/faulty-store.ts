import type { MemoryStore } from '../memory-store.ts';
import { type FleetStore, NOWHERE, type StoredCircuit, type Word } from '../protocol.ts';
import type { Runtime } from '../runtime.ts';
import type { Promises } from './promises.ts';

/** What a network does to messages. */
export interface Network {
  /** Shares of requests and answers that are lost, of requests that arrive twice, and of hints that are lost. */
  readonly lost: number;
  readonly twice: number;
  readonly hintsLost: number;
  /** Each message takes up to this time, so that later ones overtake it. */
  readonly slowMs: number;
  /** Nothing arrives. */
  readonly cut: boolean;
}

/** All that a process has heard of one circuit. */
export type HeardState = Pick<StoredCircuit, 'state' | 'generation'> & {
  /** When the answer was asked for, at the earliest. */
  readonly askedMs: number;
};

/** The store of one process, behind a network that loses, delays, repeats and reorders messages. */
export interface FaultyStore extends FleetStore {
  /** The newest that any answer said of a circuit. */
  heard(id: string): HeardState | undefined;
  /** The name under which the process has spoken; undefined before. */
  readonly process: string | undefined;
}

/** As the store in Redis does: a command that was not answered by then rejects, and may still take effect. */
const ANSWER_LIMIT_MS = 1_000;

/** Puts a network between a process and a store. `promises` sees each request when it takes effect. */
export const faultyStore = (
  store: MemoryStore,
  promises: Promises,
  { now, random, after }: Runtime,
  network: () => Network,
): FaultyStore => {
  let process: string | undefined;
  let epoch = '';
  const heard = new Map<string, HeardState>();
  const hear = (circuits: readonly StoredCircuit[]): void => {
    for (const { id, state, generation } of circuits)
      if (generation >= (heard.get(id)?.generation ?? 0))
        heard.set(id, { state, generation, askedMs: now() - ANSWER_LIMIT_MS });
  };
  const later = (run: () => void): void => void after(1 + random() * network().slowMs, run);

  /** Sends a request, which takes effect never, once or twice, and whose answer may be lost. */
  const send = <Answer>(run: () => Promise<Answer>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      after(ANSWER_LIMIT_MS, () => reject(new Error('no answer in time')));
      const { lost, twice, cut } = network();
      if (cut || random() < lost) return;
      const arrive = (): void =>
        later(() => {
          run().then((answer) => {
            if (!network().cut && random() >= lost) later(() => resolve(answer));
          }, reject);
        });
      arrive();
      if (random() < twice) arrive();
    });

  /** Compares the whole store with what it promises, after each request. */
  const checked = async <Answer>(run: () => Promise<Answer>, check: (answer: Answer) => void): Promise<Answer> => {
    const answer = await run();
    try {
      check(answer);
      promises.read(await store.read(NOWHERE), now());
    } catch (error) {
      promises.broken ??= error; // The process would take it for a failure of the store.
    }
    return answer;
  };

  return {
    read: (since, actions) =>
      send(() => store.read(since, actions)).then((word: Word) => {
        if (word.position.epoch !== epoch) heard.clear();
        epoch = word.position.epoch;
        hear(word.circuits);
        return word;
      }),
    report: (one) => {
      process = one.process;
      return send(() =>
        checked(
          () => store.report(one),
          (answer) => promises.report(one, answer, now()),
        ),
      ).then((circuit) => {
        hear([circuit]);
        return circuit;
      });
    },
    claim: (...claim) => {
      [, process] = claim;
      return send(() =>
        checked(
          () => store.claim(...claim),
          (answer) => promises.claim(claim, answer, now()),
        ),
      );
    },
    settle: (...settlement) =>
      send(() =>
        checked(
          () => store.settle(...settlement),
          (answer) => promises.settle(settlement, answer, now()),
        ),
      ),
    end: (id, generation) =>
      send(() =>
        checked(
          () => store.end(id, generation),
          (answer) => promises.end(id, generation, answer, now()),
        ),
      ),
    control: (action) => send(() => store.control(action)),
    listen: (onHint) =>
      store.listen(() => {
        const { hintsLost, cut } = network();
        if (!cut && random() >= hintsLost) later(onHint);
      }),
    close: async () => {},
    heard: (id) => heard.get(id),
    get process() {
      return process;
    },
  };
};
