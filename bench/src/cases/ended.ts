import { CALLS_IN_OUTAGE, churnBox, churnFindings, OUTAGE_EVERY } from '../churn.ts';
import type { Measure } from '../contest.ts';
import { walkHeap } from '../heap.ts';
import { byHand } from '../ours.ts';
import { brokenTool, caught, TOOLS, tool } from '../tool.ts';

const [FIRST = '', SECOND = ''] = TOOLS;

/** Sessions that are over: what each left behind would show in the heap of a million. */
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
