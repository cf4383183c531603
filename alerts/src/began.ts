import type { SessionState } from '@breakerbox/core';
import type { AlertDefinition, TextGround } from './alert.ts';
import { type AlertLabel, LABEL, LOOKED_BACK, type TextQuery } from './dialect.ts';
import { durationOf, seconds } from './duration.ts';
import { AGENT, ATTR, BY_TOOL, label, METRIC, PRIMARY, TOOL } from './promql.ts';
import { RECORDED, type RecordKey } from './record.ts';
import { asSeconds } from './recording-correlation.ts';
import { WINDOW } from './settings.ts';

/* When the trouble of an alert began, for alerts whose metrics do not say it: the last minute at which there was none. */

const OF_AGENT = ['job', 'agent'] as const;
const OF_TOOL = ['job', 'agent', 'tool'] as const;
const MATCH_AGENT = `job=%q, ${AGENT}=%q`;
const MATCH_TOOL = `${MATCH_AGENT}, ${TOOL}=%q`;

/** What was there at the first of those minutes was there before. */
const FIRST = asSeconds(durationOf(seconds(LOOKED_BACK) - seconds(WINDOW.short)));

/**
 * @param without true while there is no trouble
 * @param earlier how long before that minute it began, in PromQL
 */
const lastWithout = (without: string, earlier = ''): string =>
  `max_over_time(((${without}) * 0 + time()${earlier})[${LOOKED_BACK}:1m])`;

/** The first minute of a series that was new in this time. */
const firstOf = (series: string): string =>
  `min_over_time(timestamp(${series})[${LOOKED_BACK}:1m]) > time() - ${FIRST}`;

/**
 * Since when the alert is true, by the series that Prometheus keeps of it: of a trouble that lasts for so long that the query of its beginning
 * finds nothing. After a restart Prometheus begins again, so the earliest counts.
 */
export const alertSince = ({ name, labels }: Pick<AlertDefinition, 'name' | 'labels'>): TextQuery => ({
  query: `min(min_over_time(ALERTS_FOR_STATE{${[`alertname="${name}"`, ...labels.map((one) => `${LABEL[one]}=%q`)].join(', ')}}[${LOOKED_BACK}]))`,
  args: labels,
});

const times = (args: readonly AlertLabel[], count: number): readonly AlertLabel[] =>
  Array.from({ length: count }, () => args).flat();

/**
 * When a condition on recorded series of the tool began.
 * @param of a series that the tool has whenever it has calls
 */
export const toolTroubleSince = (of: RecordKey, condition: RecordKey, compared = ''): TextQuery => {
  const [all, bad] = [of, condition].map((key) => `${RECORDED[key]}{${MATCH_TOOL}}`);
  const query = `${lastWithout(`${all} unless ${bad}${compared}`)} or ${firstOf(`${all} > 0`)}`;
  return { query, args: times(OF_TOOL, 3) };
};

/**
 * Since when the tool is unavailable, by the recorded series. For an outage of keys: nearly all calls were skipped over a window, and it began
 * neither before that window nor before the first skip.
 */
export const unavailableSince = (): TextQuery => {
  const of = (key: RecordKey, more = ''): string => `${RECORDED[key]}{${MATCH_TOOL}${more}}`;
  const window = lastWithout(`${of('circuits')} unless ${of('keysOutOfUse')}`, ` - ${asSeconds(WINDOW.short)}`);
  const skips = of('decisions5m', `, ${label(ATTR.reason)}="key_open"`);
  const first = lastWithout(`${of('circuits')} unless on (${BY_TOOL}) ${skips}`);
  const query = `${of('unavailableSince')} or max by (${BY_TOOL}) (label_replace(${window}, "of", "window", "", "") or ${first})`;
  return { query, args: times(OF_TOOL, 5) };
};

/** Since when sessions of the agent fall low, with less than half an hour in between. */
export const fallingLowSince = (): TextQuery => {
  const low = `${RECORDED.low30m}{${MATCH_AGENT}}`;
  const query = `${lastWithout(`${low} == 0`)} or ${firstOf(`${low} > 0`)}`;
  return { query, args: times(OF_AGENT, 2) };
};

/**
 * Since when the agent has a state, with less than `kept` in between.
 * @param now true while it has the state
 * @param event a counter that also has what began and ended between two scrapes: as it grew in `kept`
 * @param selectors how many selectors `event` has
 */
const stateSince = ({ andSelector }: TextGround, now: string, event: string, selectors = 1): TextQuery => {
  const any = `sum(${METRIC.sessions.prometheus}{${MATCH_AGENT}${andSelector}})`;
  return { query: lastWithout(`${any} unless ${now} > 0 unless ${event} > 0`), args: times(OF_AGENT, 2 + selectors) };
};

const sessionsIn = ({ andSelector }: TextGround, state: SessionState): string =>
  `sum(${METRIC.sessions.prometheus}{${MATCH_AGENT}, ${label(ATTR.sessionState)}="${state}"${andSelector}})`;

const grewIn = (event: RecordKey, kept: string): string =>
  `sum(sum_over_time(${RECORDED[event]}{${MATCH_AGENT}}[${kept}]))`;

/** Since when sessions of the agent are out of budget, or run out again and again. */
export const outOfBudgetSince = (ground: TextGround): TextQuery =>
  stateSince(ground, sessionsIn(ground, 'paused_budget'), grewIn('ranOut', ground.settings.exhaustedKeep));

/** Since when systemic events of the agent last, or follow each other. */
export const failTogetherSince = (ground: TextGround): TextQuery =>
  stateSince(
    ground,
    `sum(${METRIC.systemicActive.prometheus}{${MATCH_AGENT}${ground.andSelector}})`,
    grewIn('systemicEvents', ground.settings.systemicKeep),
  );

/** Since when limits pause runs of the agent, or runs reach them again and again. */
export const limitedSince = (ground: TextGround): TextQuery => {
  const reached = `${METRIC.limits.prometheus}{${MATCH_AGENT}, ${label(ATTR.limitLevel)}="reached"${ground.andSelector}}`;
  // Not `increase()`, which ignores the first value of a series.
  const grew = `sum(${reached} - ${reached} offset ${ground.settings.limitKeep} >= 0 or ${reached})`;
  return stateSince(ground, sessionsIn(ground, 'paused_limit'), grew, 3);
};

/** When the models of a list, or its first one, last answered: after that, calls of the agent found no answer of theirs. */
export const noAnswerSince = ({ andSelector, settings: { gap } }: TextGround, which: 'all' | 'first'): TextQuery => {
  const position = which === 'all' ? '' : `, ${label(ATTR.position)}="primary"`;
  const answers = `${METRIC.modelAnswers.prometheus}{${MATCH_AGENT}, ${PRIMARY}=%q${position}${andSelector}}`;
  // The window has seen the last answer for as long as it lasts, less one scrape.
  const query = lastWithout(`sum(increase(${answers}[${gap}])) > 0`, ` - ${asSeconds(durationOf(seconds(gap) * 0.6))}`);
  return { query, args: OF_TOOL };
};
