import { AGENT_TOOL, CIRCUIT_STATES_IN_TABLE, worstOfModels } from '../../circuit-state.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, type GroupKey, label, legend, METRIC, type MetricDefinition } from '../../names.ts';
import { bars, legendTableBeside, NO_MODELS, sized, stacked } from '../../panels.ts';
import { gained, highest, sumBy, type Window } from '../../promql.ts';
import { TOOL_KEYS, table, tight } from '../../table.ts';

/* Models that `guardModels` asks (L7). Their circuits are in the metrics of tools, and no panel of tools counts them. */

const ROWS = 50;
/** The fifth colour of Grafana's palette is a red. */
const LINES = 4;
const size = sized(8, 8, 'short');
const toModel = dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail', ATTR.tool)]);

const counted = (metric: MetricDefinition, by: readonly GroupKey[], window: Window): string =>
  `${sumBy(by, gained(metric, window))} > 0`;

/** The lines with the most in the time range. */
const overTime = (metric: MetricDefinition, by: readonly GroupKey[]): string =>
  highest(
    counted(metric, by, '$__rate_interval'),
    LINES,
    by,
    sumBy(by, `rate(${metric.prometheus}{${VARIABLES}}[$__range] @ end())`),
  );

const VARIABLES = `job=~"$job", instance=~"$instance", ${label(ATTR.agent)}=~"$agent"`;

const inTable = (expr: string): string => highest(expr, ROWS, AGENT_TOOL, worstOfModels());

const models = () =>
  tight(
    table(
      {
        title: 'Models in range',
        description: `The circuits of models and of their providers (group:model:PROVIDER), the worst first; at most ${ROWS}. A key without credit opens the circuit of the provider. Answers and tokens are those in the time range shown. As fallback: answers in place of the first model of a list. Click a model for its details.`,
        ...sized(24, 7, 'short'),
      },
      TOOL_KEYS,
      [
        { title: 'State', expr: `topk(${ROWS}, ${worstOfModels()})`, states: CIRCUIT_STATES_IN_TABLE, width: 110 },
        {
          title: 'Answers',
          expr: inTable(sumBy(AGENT_TOOL, gained(METRIC.modelAnswers, '$__range'))),
          absent: '–',
          width: 90,
        },
        {
          title: 'As fallback',
          expr: inTable(sumBy(AGENT_TOOL, gained(METRIC.modelAnswers, '$__range', { [ATTR.position]: ['fallback'] }))),
          absent: '–',
          width: 100,
        },
        {
          title: 'Tokens',
          expr: inTable(sumBy(AGENT_TOOL, gained(METRIC.modelTokens, '$__range'))),
          absent: '–',
          width: 90,
        },
        {
          title: 'Cost',
          expr: inTable(sumBy(AGENT_TOOL, gained(METRIC.modelCost, '$__range'))),
          decimals: 2,
          absent: '–',
          width: 80,
        },
      ],
      'State',
    ),
  ).noValue(NO_MODELS);

/** Circuits of models, who answered, and what it cost. */
export const whoAnswered = () => [
  models(),
  stacked(
    {
      ...size,
      title: 'Who answered',
      description: `Answers by model: as the first of its list, or as a fallback. The ${LINES} with the most in the time range shown. If a fallback answers all the time, see why the first model does not.`,
    },
    { expr: overTime(METRIC.modelAnswers, [ATTR.tool, ATTR.position]), legend: legend(ATTR.tool, ATTR.position) },
  )
    .legend(legendTableBeside())
    .dataLinks(toModel)
    .noValue(NO_MODELS),
  bars(
    {
      ...size,
      title: 'Calls that no model answered',
      description: 'By the first model of the list that was asked. The run that asked has failed.',
    },
    { expr: overTime(METRIC.modelFailures, [ATTR.tool]), legend: legend(ATTR.tool) },
  )
    .dataLinks(toModel)
    .noValue('None'),
  stacked(
    {
      ...size,
      title: 'Tokens of models',
      description: `Tokens of answers, as the provider counts them: input and output. The ${LINES} with the most in the time range shown.`,
    },
    { expr: overTime(METRIC.modelTokens, [ATTR.tool, ATTR.tokenType]), legend: legend(ATTR.tool, ATTR.tokenType) },
  )
    .dataLinks(toModel)
    .noValue(NO_MODELS),
];
