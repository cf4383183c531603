import { gained } from './gained.ts';
import { BY_AGENT, CURRENCY, joined, METRIC } from './promql.ts';
import type { Recording, RecordKey } from './record.ts';
import { WINDOW } from './settings.ts';

const { hour, week } = WINDOW;

/** Money of several currencies is not added up. */
export const BY_CURRENCY = `${BY_AGENT}, ${CURRENCY}`;

const inHour = (key: RecordKey, of: 'spentCost' | 'spentTokens', comment: string): Recording => ({
  key,
  comment,
  expr: (ground) =>
    gained(ground, ground.series(METRIC[of]), of === 'spentCost' ? BY_CURRENCY : BY_AGENT, hour, 'no zeros'),
  every: '4m',
});

/** The last hour is not its own measure. */
const usual = (key: RecordKey, of: RecordKey, comment: string): Recording => ({
  key,
  comment,
  expr: ({ read, settings: { spendLeastHistory } }) =>
    joined(
      'and',
      `avg_over_time(${read.over(of, week)} offset ${hour})`,
      `last_over_time(${read.over(of, week)} offset ${spendLeastHistory})`,
    ),
  every: '15m',
});

/** What agents spend (D7). Only agents that report spending have these series. */
export const SPEND: readonly Recording[] = [
  inHour(
    'spentCost1h',
    'spentCost',
    'What an agent has spent in the last hour: money by currency, and tokens. No value without spending.',
  ),
  inHour('spentTokens1h', 'spentTokens', ''),
  usual(
    'spentCostUsual',
    'spentCost1h',
    'The mean of the hours of the week in which the agent spent something, before the last hour. An agent that works only in the daytime is compared with its days. No value before there is enough history.',
  ),
  usual('spentTokensUsual', 'spentTokens1h', ''),
];
