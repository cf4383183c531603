import { createBreakerbox } from '@breakerbox/core';
import type { Findings } from './contest.ts';
import type { HeapWalk } from './heap.ts';
import { AGENT } from './ours.ts';
import { TOOLS } from './tool.ts';

/** The box that makes the sessions. */
export const churnBox = createBreakerbox({ agent: AGENT, tools: Object.fromEntries(TOOLS.map((name) => [name, {}])) });

/** Each tenth session has an outage: one tool fails until its circuit opens, and is then called once more. */
export const OUTAGE_EVERY = 10;
export const CALLS_IN_OUTAGE = 4;

const NS_PER_S = 1e9;

/** The findings of `count` sessions that started and ended. */
export const churnFindings = (id: string, count: number, { heaps, grownBytes, workedNs }: HeapWalk): Findings => ({
  contestants: [{ id, title: 'Breakerbox, one session', by: 'breakerbox' }],
  samples: { [id]: [workedNs / count] },
  facts: {
    [id]: {
      sessions: count,
      perSecond: (count / workedNs) * NS_PER_S,
      firstHeapBytes: heaps[0] ?? 0,
      heapBytes: heaps.at(-1) ?? 0,
      grownBytes,
    },
  },
});
