import type { RecordedEvent } from './recording.ts';

interface Head {
  readonly iterator: AsyncIterator<readonly RecordedEvent[]>;
  batch: readonly RecordedEvent[];
  place: number;
}

/** The events of several streams, each in the order of time, as one stream in the order of time. */
export const inTime = async function* (
  streams: readonly AsyncIterable<readonly RecordedEvent[]>[],
): AsyncIterable<RecordedEvent> {
  const heads: Head[] = [];
  for (const stream of streams) {
    const head: Head = { iterator: stream[Symbol.asyncIterator](), batch: [], place: 0 };
    if (await fill(head)) heads.push(head);
  }
  while (heads.length > 0) {
    const first = heads.reduce((least, head) => (timeOfHead(head) < timeOfHead(least) ? head : least));
    yield first.batch[first.place] as RecordedEvent;
    first.place += 1;
    if (!(await fill(first))) heads.splice(heads.indexOf(first), 1);
  }
};

const timeOfHead = ({ batch, place }: Head): number => (batch[place] as RecordedEvent).atMs;

/** @returns false at the end of the stream */
const fill = async (head: Head): Promise<boolean> => {
  while (head.place >= head.batch.length) {
    const next = await head.iterator.next();
    if (next.done) return false;
    head.batch = next.value;
    head.place = 0;
  }
  return true;
};
