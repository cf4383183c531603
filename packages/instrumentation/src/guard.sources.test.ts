/** Results that can be read in other ways than piece by piece. The result is the answer, and the guard does not read it. */
import { opendir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { guard } from './index.ts';
import { watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** As database drivers have it: `next` gives a document or null, and is no iterator's. */
class Cursor {
  readonly #left = ['first', 'second'];
  async next(): Promise<string | null> {
    return this.#left.shift() ?? null;
  }
  async hasNext() {
    return this.#left.length > 0;
  }
  async toArray() {
    return this.#left.splice(0);
  }
  async *[Symbol.asyncIterator]() {
    for (let found = await this.next(); found !== null; found = await this.next()) yield found;
  }
}

/** As model SDKs have it. */
class MessageStream {
  async *[Symbol.asyncIterator]() {
    yield 'piece';
  }
  tee() {
    return [this, this];
  }
  async finalMessage() {
    return 'whole';
  }
}

const hostile = () => {
  const trap = () => {
    throw new Error('do not look at me');
  };
  return new Proxy(new MessageStream(), { getPrototypeOf: trap, ownKeys: trap });
};

/** A generator's object with one way more to read it. */
const generatorWithMore = () => {
  const pieces = async function* () {
    yield 1;
  };
  return Object.assign(pieces(), { toArray: async () => [1] });
};

describe('a source is returned unchanged, and counts at once', () => {
  test.each<[string, () => object | null | Promise<object>]>([
    ['a web stream', () => new Response('pages').body],
    ['a stream of Node', () => Readable.from(['pages'])],
    ['an interface of readline', () => createInterface({ input: Readable.from(['line\n']) })],
    ['a cursor', () => new Cursor()],
    ['a stream of a model SDK', () => new MessageStream()],
    ['a plain object with a way of its own', () => ({ [Symbol.asyncIterator]: generatorWithMore, toArray: () => [] })],
    ['a generator with a way of its own', generatorWithMore],
    ['a proxy that hides what it is', hostile],
  ])('%s', async (_, make) => {
    const { session, outcomes } = watchedSession();
    const source = await make();
    expect(await guard(session, 'pages', () => source)()).toBe(source);
    expect(outcomes).toEqual(['pages: success']);
  });

  test('a directory, which can then be read as usual', async () => {
    const { session, outcomes } = watchedSession();
    const folder = await opendir(fileURLToPath(new URL('.', import.meta.url)));
    const given = await guard(session, 'folder', () => folder)();
    expect(given).toBe(folder);
    expect(outcomes).toEqual(['folder: success']);
    expect((await given.read())?.name).toEqual(expect.any(String));
    await given.close();
  });
});

test('the lines of a readline interface reach its listeners and its reader', async () => {
  const { session } = watchedSession();
  const lines = guard(session, 'lines', (text: string) => createInterface({ input: Readable.from([text]) }));
  const heard: string[] = [];
  const given = await lines('one\ntwo\n');
  given.on('line', (line) => heard.push(line));
  const read: string[] = [];
  for await (const line of given) read.push(line);
  expect([heard, read]).toEqual([
    ['one', 'two'],
    ['one', 'two'],
  ]);
});

test("a cursor's next() returns the same values", async () => {
  const { session } = watchedSession();
  const find = guard(session, 'find', () => new Cursor());
  const cursor = await find();
  expect([await cursor.next(), await cursor.hasNext(), await cursor.next(), await cursor.next()]).toEqual([
    'first',
    true,
    'second',
    null,
  ]);
});

test('F1: no label replaces it', async () => {
  const { session } = watchedSession({ tools: { ask: { labelFreshness: true } } });
  const stream = new MessageStream();
  const freshness = () => ({ retrievedUnixMs: null });
  expect(await guard(session, 'ask', () => stream, { freshness })()).toBe(stream);
  expect(await guard(session, 'ask', () => stream, { freshness })()).toBe(stream);
  expect(await guard(session, 'ask', () => 'text', { freshness })()).toMatch(/^\[.+\]\ntext$/);
});

test('O2: a result that marks itself as an outage counts as one', async () => {
  const { session, outcomes } = watchedSession();
  const response = { error: 'HTTP 503', [Symbol.asyncIterator]: generatorWithMore };
  expect(await guard(session, 'get', () => response)()).toBe(response);
  expect(outcomes).toEqual(['get: failure, server']);
});

test('a tool that has recovered is called again, however its answer is read', async () => {
  const { session, decisions } = watchedSession({ tools: { ask: { failureThreshold: 1, probeAfterSteps: 1 } } });
  let works = false;
  const ask = guard(session, 'ask', async () => {
    if (!works) throw refused;
    return new MessageStream();
  });
  await expect(ask()).rejects.toBe(refused);
  works = true;
  session.step();
  expect(await (await ask()).finalMessage()).toBe('whole');
  await ask();
  expect(decisions).toEqual(['ask: call', 'ask: probe', 'ask: call']);
});
