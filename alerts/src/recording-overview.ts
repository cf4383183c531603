import type { ReportedState } from '@breakerbox/core';
import { ATTR, aggregated, BY_AGENT, BY_TOOL, joined, label, METRIC, TOOL } from './promql.ts';
import type { Ground, Recording } from './record.ts';
import { WINDOW } from './settings.ts';

const { short } = WINDOW;
const PER_TOOL = `job, ${TOOL}`;

/** 1 for tools that have a circuit in one of these states. */
const anyIn = ({ series }: Ground, ...states: readonly ReportedState[]): string =>
  `${aggregated('sum', BY_TOOL, `${series(METRIC.circuits, { [ATTR.state]: states })} > 0`)} ^ 0`;

/**
 * Series that no alert reads. With them, a dashboard of the whole fleet reads a few hundred series where it would read hundreds of
 * thousands.
 */
export const OVERVIEW: readonly Recording[] = [
  {
    key: 'worstState',
    comment:
      'The worst state among the circuits of a tool: 5 open and others half-open, 3 open, 2 half-open, 1 switched off or only observing. No value while all are closed. No alert reads this series and those below: dashboards do, while they show all instances.',
    expr: (ground) => {
      // The label keeps both, so that their sum is 5.
      const open = `label_replace(3 * ${anyIn(ground, 'open', 'forced_open')}, "worst", "open", "", "")`;
      const worst = aggregated('sum', BY_TOOL, joined('or', open, `2 * ${anyIn(ground, 'half_open')}`));
      return joined('or', worst, anyIn(ground, 'disabled', 'observe_only'));
    },
  },
  {
    key: 'budgetLeft',
    comment: 'The share that is left of the failures that live sessions may have; 1 without live sessions.',
    expr: ({ series }) => {
      const limit = aggregated('sum', BY_AGENT, series(METRIC.budgetLimit));
      return `${aggregated('sum', BY_AGENT, series(METRIC.budgetRemaining))} / (${limit} > 0)\nor ${limit} * 0 + 1`;
    },
  },
  {
    key: 'circuitsOfTool',
    comment: 'Of all agents together: circuits by state.',
    expr: ({ series }) => aggregated('sum', `${PER_TOOL}, ${label(ATTR.state)}`, series(METRIC.circuits)),
    every: '2m',
  },
  {
    key: 'decisionsOfTool',
    comment: 'Decisions per second, by reason.',
    expr: ({ series }) =>
      aggregated(
        'sum',
        `${PER_TOOL}, ${label(ATTR.decision)}, ${label(ATTR.reason)}`,
        `rate(${series(METRIC.decisions)}[${short}])`,
      ),
    every: '2m',
  },
  {
    key: 'outcomesOfTool',
    comment: 'Outcomes per second.',
    expr: ({ series }) =>
      aggregated('sum', `${PER_TOOL}, ${label(ATTR.outcome)}`, `rate(${series(METRIC.outcomes)}[${short}])`),
    every: '2m',
  },
  {
    key: 'bucketsOfTool',
    comment: 'The histogram of the durations, per second.',
    expr: ({ series }) =>
      aggregated('sum', `${PER_TOOL}, le`, `rate(${series(METRIC.duration, {}, '', '_bucket')}[${short}])`),
    every: '2m',
  },
];
