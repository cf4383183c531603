import type { Session } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { CALLS_IN_OUTAGE, churnBox, churnFindings, OUTAGE_EVERY } from '../churn.ts';
import type { Measure } from '../contest.ts';
import { walkHeap } from '../heap.ts';
import { caught, OUTAGE, TOOLS } from '../tool.ts';

/** Sessions under way at any time: a hundredth of all, so that the heap is at its maximum at the first measurement. */
const aliveOf = (count: number): number => Math.ceil(count / 100);

const runAgent = async (session: Session, index: number): Promise<void> => {
  const down = index % OUTAGE_EVERY === 0 ? TOOLS[(index / OUTAGE_EVERY) % TOOLS.length] : undefined;
  for (const name of TOOLS) {
    const call = guard(session, name, async (input: number) => {
      if (name === down) throw OUTAGE;
      return input;
    });
    for (let left = name === down ? CALLS_IN_OUTAGE : 1; left > 0; left -= 1) await caught(() => call(left))();
  }
  session.step();
};

/** A server that runs agents: sessions start, call their tools through `guard`, have outages, and end. */
export const measure: Measure = async ({ sessions: count }) => {
  const alive: Session[] = [];
  const most = aliveOf(count);
  const walk = await walkHeap(count, async (index) => {
    const session = churnBox.session();
    const place = index % most;
    alive[place]?.end();
    alive[place] = session;
    await runAgent(session, index);
  });
  for (const session of alive) session.end();
  return churnFindings('guard', count, walk);
};
