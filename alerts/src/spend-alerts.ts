import { sessionsNow } from './agent-alerts.ts';
import type { AlertDefinition } from './alert.ts';
import { limitedSince } from './began.ts';
import { durationOf, inWords, seconds } from './duration.ts';
import { limitsReached } from './failing.ts';
import { isOrWas } from './gained.ts';
import { ATTR, BY_AGENT, joined, METRIC } from './promql.ts';
import type { Ground, RecordKey } from './record.ts';

const common = { dashboard: 'breakerbox-failure-budget', labels: ['job', 'agent'] } as const;

const limitReached: AlertDefinition = {
  ...common,
  name: 'BreakerboxLimitReached',
  severity: 'warning',
  says: ({ limitWithin, limitKeep }) =>
    `a limit pauses sessions, or a run reached a limit within ${inWords(limitWithin)}; kept firing for ${inWords(limitKeep)} after`,
  comment:
    'Reads the gauge and the counter, as BreakerboxBudgetExhausted does, because a run often ends as soon as it is paused. Limits that only observe do not count. A limit counts once, until it is extended.',
  expr: (ground) =>
    isOrWas(
      ground,
      ground.series(METRIC.sessions, { [ATTR.sessionState]: ['paused_limit'] }),
      ground.series(METRIC.limits, { [ATTR.limitLevel]: ['reached'] }),
      ground.settings.limitWithin,
    ),
  keepFiringFor: ({ limitKeep }) => limitKeep,
  began: limitedSince,
  summary: ({ dialect, andSelector }) =>
    `${dialect.label('agent')}: runs have reached a limit${limitsReached(dialect, andSelector)}`,
  description: ({ dialect, settings, andSelector }) => {
    const within = inWords(durationOf(seconds(settings.limitWithin) + seconds(settings.limitKeep)));
    const paused = sessionsNow(
      dialect,
      'paused_limit',
      andSelector,
      'is paused by a limit',
      'are paused by a limit',
      `Runs reached a limit within the last ${within}, and ended or were extended since. None is paused now`,
    );
    return `Agent ${dialect.label('agent')} (job ${dialect.label('job')}): ${paused}. A paused session calls no tool until its limit is extended. Its calls have not failed: look at what the run has done, and whether it goes in circles. To see sessions and limits: breakerbox ctl list. To let a run go on: breakerbox ctl extend SESSION LIMIT AMOUNT.`;
  },
};

/** More than usual, and enough to matter. The usual spending is recorded every 15 minutes. */
const burning = (ground: Ground, now: RecordKey, usual: RecordKey, floor: number): string => {
  const { read, recorded, settings } = ground;
  const measure = recorded ? `last_over_time(${read.over(usual, '20m')})` : read.now(usual);
  return joined('and', `${read.now(now)} > ${settings.spendFactor} * ${measure}`, `${read.now(now)} >= ${floor}`);
};

const advice =
  'See which sessions are at work: breakerbox ctl list. Set limits for runs, so that the next one pauses by itself.';

const burnOfCost: AlertDefinition = {
  ...common,
  name: 'BreakerboxSpendBurn',
  severity: 'warning',
  scope: 'cost',
  labels: ['job', 'agent', 'currency'],
  says: ({ spendFactor, spendFloorCost, spendFloorTokens }) =>
    `an agent spent more than ${spendFactor} times in the last hour of what it spends in an hour of its week, and at least ${spendFloorCost} in money, or ${spendFloorTokens} tokens if it reports no cost`,
  comment:
    'Compares an agent with its own week, because one agent costs cents and another one hundreds. The floor keeps agents silent that cost little.',
  expr: (ground) => {
    const { spendFloorCost, spendCriticalCost } = ground.settings;
    const burn = burning(ground, 'spentCost1h', 'spentCostUsual', spendFloorCost);
    // The critical rule says more.
    return spendCriticalCost === 0 ? burn : `${burn}\nunless ${ground.read.now('spentCost1h')} > ${spendCriticalCost}`;
  },
  keepFiringFor: ({ spendKeep }) => spendKeep,
  summary: ({ dialect }) => `${dialect.label('agent')} spends much more than usual`,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has spent ${dialect.value('count')} ${dialect.label('currency')} in an hour: more than ${settings.spendFactor} times of what it spends in an hour on average of its week. ${advice}`,
};

const burnOfTokens: AlertDefinition = {
  ...common,
  name: 'BreakerboxSpendBurn',
  severity: 'warning',
  scope: 'tokens',
  says: burnOfCost.says,
  comment: 'The same for agents that report no cost.',
  expr: (ground) =>
    `${burning(ground, 'spentTokens1h', 'spentTokensUsual', ground.settings.spendFloorTokens)}\nunless on (${BY_AGENT}) ${ground.read.now('spentCost1h')}`,
  keepFiringFor: ({ spendKeep }) => spendKeep,
  summary: burnOfCost.summary,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has used ${dialect.value('count')} tokens in an hour: more than ${settings.spendFactor} times of what it uses in an hour on average of its week. ${advice}`,
};

const burnRate: AlertDefinition = {
  ...burnOfCost,
  severity: 'critical',
  scope: 'rate',
  comment:
    'Spending per hour that is too much for any agent, whatever it spent before. Without a rate, there is no such rule.',
  isOn: ({ spendCriticalCost }) => spendCriticalCost > 0,
  expr: ({ read, settings }) => `${read.now('spentCost1h')} > ${settings.spendCriticalCost}`,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has spent ${dialect.value('count')} ${dialect.label('currency')} in an hour: more than ${settings.spendCriticalCost}, which is too much for any agent. ${advice}`,
};

/** Alerts about what agents spend. */
export const SPEND_ALERTS: readonly AlertDefinition[] = [limitReached, burnOfCost, burnOfTokens, burnRate];
