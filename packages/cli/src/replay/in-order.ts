import type { RecordedEvent } from './recording.ts';

/** Puts the ends of calls, of tools and of models, after the starts that come before them, if a reader knows both at once. */
export interface Order {
  /** Adds an event, and gives those that are due to `into`. Starts and steps must come in the order of time. */
  add(event: RecordedEvent, into: RecordedEvent[]): void;
  /** The ends that are left. */
  rest(): readonly RecordedEvent[];
}

/** See {@link Order}. Ends wait in a sorted list, which is as long as there are calls under way. */
export const inOrder = (): Order => {
  const ends: RecordedEvent[] = [];

  const wait = (end: RecordedEvent): void => {
    let place = ends.length;
    while (place > 0 && (ends[place - 1] as RecordedEvent).atMs <= end.atMs) place -= 1;
    ends.splice(place, 0, end);
  };

  return {
    add(event, into) {
      if (event.kind === 'end' || event.kind === 'spend') {
        wait(event);
        return;
      }
      // The latest comes first, so that those that are due are taken from the end of the list.
      while (ends.length > 0 && (ends.at(-1) as RecordedEvent).atMs <= event.atMs)
        into.push(ends.pop() as RecordedEvent);
      into.push(event);
    },
    rest: () => ends.splice(0).reverse(),
  };
};
