import { CALLS_IN_OUTAGE, churnBox, churnFindings, OUTAGE_EVERY } from '../churn.ts';
import type { Measure } from '../contest.ts';
import { walkHeap } from '../heap.ts';
import { byHand } from '../ours.ts';
import { brokenTool, caught, TOOLS, tool } from '../tool.ts';

const [FIRST = '', SECOND = ''] = TOOLS;

/** Ended sessions. If each left something behind, the heap of a million sessions would show it. */
export const measure: Measure = async ({ endedSessions: count }) => {
  const walk = await walkHeap(count, async (index) => {
    const session = churnBox.session();
    await byHand(session, tool, FIRST)(1);
    const down = index % OUTAGE_EVERY === 0;
    const call = caught(() => byHand(session, down ? brokenTool : tool, SECOND)(1));
    for (let left = down ? CALLS_IN_OUTAGE : 1; left > 0; left -= 1) await call();
    session.end();
  });
  return churnFindings('hand', count, walk);
};
