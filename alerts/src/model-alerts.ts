import { GROUP_PREFIX, MODEL_PREFIX } from '@breakerbox/core';
import type { AlertDefinition } from './alert.ts';
import { noAnswerSince } from './began.ts';
import { durationOf, inWords, seconds } from './duration.ts';
import { failingWith, otherModel } from './failing.ts';
import { gained } from './gained.ts';
import {
  AGENT,
  ATTR,
  aggregated,
  BY_TOOL,
  bracketed,
  indented,
  joined,
  METRIC,
  MODELS,
  NOT_CLOSED,
  PRIMARY,
  TOOL,
} from './promql.ts';
import type { Ground } from './record.ts';
import { WINDOW } from './settings.ts';

const common = { dashboard: 'breakerbox-tool-detail', labels: ['job', 'agent', 'tool'] } as const;

const BY_PRIMARY = `job, ${AGENT}, ${PRIMARY}`;

/** The first model of the list takes the place of the tool, so that links and the console lead to it. */
const ofPrimary = (expr: string): string =>
  `sum by (${BY_TOOL}) (\n  label_replace(\n${indented(indented(expr))},\n    "${TOOL}", "$1", "${PRIMARY}", "(.+)"\n  )\n)`;

const answers = (ground: Ground, window: string, position?: 'primary' | 'fallback'): string =>
  gained(
    ground,
    ground.series(METRIC.modelAnswers, position === undefined ? {} : { [ATTR.position]: [position] }),
    BY_PRIMARY,
    window,
  );

/** In the last minutes, and for agents that ask a model rarely in the last hour. */
const inEither = (recent: string, condition: (window: string) => string): string =>
  joined('or', ...[recent, WINDOW.hour].map((window) => bracketed(condition(window))));

/**
 * Models, with the name of the group of their provider as the label of the first model: the first part of the name, or the first two
 * behind a router. A key is in no name of a model. So a group with a key is no group of any model here.
 */
const inGroup = (expr: string, parts: string): string =>
  `label_replace(${expr}, "${PRIMARY}", "$1", "${TOOL}", "${MODEL_PREFIX}${parts}")`;

/** A name without a slash is that of its provider as well. */
const GROUPS = ['([^/]+)(?:/.+)?', '([^/]+(?:/[^/]+)?)/.+'];

/**
 * Lists with a fallback that has answered in the last hour, and whose first model is skipped, by its own circuit or that of its provider. A
 * circuit stays open until a call probes it, so this sees a dead key after one request. The state is known a gap late at most.
 */
const skipped = ({ series, read, recorded, settings: { onFallbackFor, gap } }: Ground): string => {
  const window = durationOf(seconds(onFallbackFor) - seconds(gap));
  // Without recorded series, the query has it three times, so it is short: it has the waits that a service asked for as well.
  const open = aggregated('sum', BY_TOOL, series(METRIC.circuits, { [ATTR.state]: NOT_CLOSED }, MODELS));
  const out = `min_over_time(${recorded ? read.over('notClosed', window) : `(${open})[${window}:1m]`}) > 0`;
  const answered = series(METRIC.modelAnswers, { [ATTR.position]: ['fallback'] });
  const listed = ofPrimary(`${answered} > 0 unless ${answered} == ${answered} offset ${WINDOW.hour}`);
  const groups = `label_replace(${out}, "${PRIMARY}", "$1", "${TOOL}", "${GROUP_PREFIX}${MODEL_PREFIX}(.+)")`;
  const byGroup = GROUPS.map((parts) => `${inGroup(listed, parts)}\nand on (${BY_PRIMARY}) ${groups}`);
  return joined(
    'or',
    `${listed}\nand on (${BY_TOOL}) (${out})`,
    ...byGroup.map((expr) => aggregated('sum', BY_TOOL, expr)),
  );
};

/** Calls of a model are also skipped for this reason if the group of its provider is forced open. */
const unlessForced = ({ series }: Ground, window: string): string => {
  const forced = series(METRIC.decisions, { [ATTR.reason]: ['forced_open'] }, MODELS);
  return `unless ${aggregated('sum', BY_TOOL, `increase(${forced}[${window}])`)} > 0`;
};

const onFallback: AlertDefinition = {
  ...common,
  name: 'BreakerboxModelOnFallback',
  severity: 'warning',
  says: ({ onFallbackFor, onFallbackLeastAnswers }) =>
    `the first model of a list has answered nothing for ${inWords(onFallbackFor)} while other models gave at least ${onFallbackLeastAnswers} answers, or the same for an hour; or its circuit, or that of its provider, stays open and other models have answered in the last hour`,
  comment:
    'Users notice nothing, so that a dead key may stay unnoticed for days, at the price and the quality of the other model. Counters of the answers by the list that was asked: its first model takes the place of the tool. The state of its circuit tells it of agents that ask rarely. A model that an operator forces open, or whose provider is forced open, does not count.',
  expr: (ground) => {
    const unlessAnswered = (window: string): string => `unless ${ofPrimary(answers(ground, window, 'primary'))} > 0`;
    const counted = inEither(ground.settings.onFallbackFor, (window) =>
      [
        `${ofPrimary(answers(ground, window, 'fallback'))} >= ${ground.settings.onFallbackLeastAnswers}`,
        unlessAnswered(window),
        unlessForced(ground, window),
      ].join('\n'),
    );
    const byState = `${bracketed(skipped(ground))}\n${unlessAnswered(ground.settings.onFallbackFor)}`;
    return joined('or', counted, bracketed(byState));
  },
  keepFiringFor: ({ onFallbackKeep }) => onFallbackKeep,
  began: (ground) => noAnswerSince(ground, 'first'),
  summary: ({ dialect, andSelector }) =>
    `${dialect.label('agent')}: ${otherModel(dialect, andSelector)} answers for ${dialect.label('tool')}${failingWith(dialect, andSelector)}`,
  description: ({ dialect, settings }) =>
    `${dialect.label('tool')}, the first model of agent ${dialect.label('agent')} (job ${dialect.label('job')}), has answered nothing for ${inWords(settings.onFallbackFor)}. Other models of its list answer, so users see no error. Check its key, its credit and the status page of its provider. It is probed by real calls, and answers again by itself. To see why and when the next probe is due: breakerbox ctl list.`,
};

const modelsDown: AlertDefinition = {
  ...common,
  name: 'BreakerboxModelsDown',
  severity: 'critical',
  says: ({ modelsDownFor, modelsDownLeastCalls }) =>
    `no model of a list has answered for ${inWords(modelsDownFor)} while at least ${modelsDownLeastCalls} calls failed, or the same for an hour`,
  comment:
    'The agent cannot work at all. Failed calls are counted under the first model of the list that was asked, and its answers by the same name.',
  expr: (ground) =>
    inEither(ground.settings.modelsDownFor, (window) =>
      [
        `${gained(ground, ground.series(METRIC.modelFailures), BY_TOOL, window)} >= ${ground.settings.modelsDownLeastCalls}`,
        `unless ${ofPrimary(answers(ground, window))} > 0`,
      ].join('\n'),
    ),
  keepFiringFor: ({ modelsDownKeep }) => modelsDownKeep,
  began: (ground) => noAnswerSince(ground, 'all'),
  summary: ({ dialect, andSelector }) =>
    `${dialect.label('agent')}: neither ${dialect.label('tool')} nor another model answers${failingWith(dialect, andSelector)}`,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has had no answer of ${dialect.label('tool')} or of the models behind it for ${inWords(settings.modelsDownFor)}. Its runs fail. Check keys, credit and the status pages of the providers, and the way to them. Each model is probed by real calls. To see why each is unavailable and until when: breakerbox ctl list.`,
};

/** Alerts about the models of one agent. */
export const MODEL_ALERTS: readonly AlertDefinition[] = [modelsDown, onFallback];
