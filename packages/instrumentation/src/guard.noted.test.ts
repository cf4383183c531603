/** R4: an alternative that answers piece by piece stays readable so, with its note in the first piece. */
import { expect, test } from 'vitest';
import { type GuardedFunction, guard, ToolUnavailableError } from './index.ts';
import { open, watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const NOTE = "answered by 'news' in place of 'web', which is unavailable: little is lost";

/** What the tool `web` gives while it is out and `news` answers in its place. */
const inPlace = async <Given>(pieces: (input: undefined) => Given) => {
  const watched = watchedSession({
    tools: {
      web: { failureThreshold: 1, alternatives: [{ tool: 'news', degradation: 'low', adapt: () => undefined }] },
      news: { failureThreshold: 1 },
    },
  });
  const news = guard(watched.session, 'news', pieces) as unknown as GuardedFunction<undefined, Given>;
  const fail = (_: undefined): Promise<Given> => Promise.reject(refused);
  const web = guard(watched.session, 'web', fail, { alternatives: { news } });
  open(watched, 'web');
  return { ...watched, web, given: (await web()) as Given };
};

const all = async (pieces: AsyncIterable<unknown>): Promise<unknown[]> => {
  const read: unknown[] = [];
  for await (const piece of pieces) read.push(piece);
  return read;
};

test.each<[string, readonly unknown[], readonly unknown[]]>([
  ['texts', ['a', 'b'], [`[${NOTE}]\na`, 'b']],
  ['objects', [{ hit: 1 }, { hit: 2 }], [{ hit: 1, note: NOTE }, { hit: 2 }]],
  ['anything', [1, 2], [{ result: 1, note: NOTE }, 2]],
  ['nothing', [], []],
])('R4: the note is added to %s of a generator; the end settles the call', async (_, pieces, expected) => {
  const { given, outcomes } = await inPlace(async function* () {
    yield* pieces;
  });
  expect(outcomes).toEqual(['web: failure, network']);
  expect(await all(given)).toEqual(expected);
  expect(outcomes).toEqual(['web: failure, network', 'news: success']);
});

test('R4: the note is added to a plain async iterable too', async () => {
  const { given, outcomes } = await inPlace(() => ({
    async *[Symbol.asyncIterator]() {
      yield 'a';
    },
  }));
  expect(await all(given)).toEqual([`[${NOTE}]\na`]);
  expect(outcomes).toEqual(['web: failure, network', 'news: success']);
});

test('R4: an error among the pieces is an error of the alternative, and reaches the reader', async () => {
  const { given, outcomes, web } = await inPlace(async function* () {
    yield 'a';
    throw refused;
  });
  await expect(all(given)).rejects.toBe(refused);
  expect(outcomes).toEqual(['web: failure, network', 'news: failure, network']);
  await expect(web()).rejects.toThrow(ToolUnavailableError);
});

test('R4: a reader that leaves before or after the first piece settles the call', async () => {
  const pieces = async function* () {
    yield 'a';
    yield 'b';
  };
  const unread = await inPlace(pieces);
  await unread.given.return();
  expect(unread.outcomes).toEqual(['web: failure, network', 'news: ignored, cancelled']);
  const left = await inPlace(pieces);
  for await (const _ of left.given) break;
  expect(left.outcomes).toEqual(['web: failure, network', 'news: ignored, cancelled']);
});

test('R4: concurrent reads get the note once', async () => {
  const { given } = await inPlace(async function* () {
    yield 'a';
    yield 'b';
  });
  const asked = await Promise.all([given.next(), given.next(), given.next()]);
  expect(asked.map(({ value }) => value)).toEqual([`[${NOTE}]\na`, 'b', undefined]);
});
