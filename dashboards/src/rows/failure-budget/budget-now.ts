import { type Row, stat } from '../../panels.ts';
import { type Grown, grown } from '../../recorded-forms.ts';
import { orZero } from '../../zeros.ts';
import { budgetLeftNow, pausedAsSystemic, pausedOnBudget } from '../stats.ts';

const size = { width: 8, height: 3 } as const;

const counted = (title: string, description: string, key: Grown, width = 5) =>
  stat({ ...size, width, title, description, unit: 'short' }, orZero(grown([], key, '$__range')));

/** The budget left, and paused sessions. */
export const nowRow = (): Row => ({
  title: 'Now',
  panels: [budgetLeftNow(size), pausedOnBudget(size), pausedAsSystemic(size)],
});

/** Charges, and what they led to. */
export const inRangeRow = (): Row => ({
  title: 'In the time range',
  panels: [
    counted(
      'Charged',
      'Final charges to the budgets of sessions, in the time range shown. An outage of one tool costs one, and so does a systemic event. Skips, pauses and ignored outcomes cost nothing.',
      'charged',
    ),
    counted(
      'Fell low',
      'Times a session fell to at most one failure left in its budget, in the time range shown. A session counts again once its budget was full in between.',
      'fellLow',
    ),
    counted(
      'Ran out',
      'Times a session ran out of failure budget, in the time range shown. Each paused until it was resumed or ended.',
      'ranOut',
      4,
    ),
    counted(
      'Tokens wasted',
      'Tokens spent on calls that failed, in the time range shown. 0 if the agents report no costs.',
      'tokensWasted',
    ),
    counted(
      'Tokens avoided (est.)',
      "An estimate for the time range shown: each skipped call counts as much as the tool's failed calls cost on average.",
      'tokensAvoided',
    ),
  ],
});
