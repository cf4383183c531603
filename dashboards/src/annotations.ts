import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { ALERT, sharedCauseMark } from './alert-state.ts';
import { ATTR, label, METRIC } from './names.ts';
import { COLOUR } from './palette.ts';
import { gained, series, sumBy } from './promql.ts';
import { DATASOURCE } from './variables.ts';

const agent = label(ATTR.agent);
const tool = label(ATTR.tool);

/** Marks across all graphs. Grafana draws points with a value above zero, and joins neighbours into one region. */
export const annotations = (): AnnotationQueryBuilder[] => [
  // One mark for the whole fleet, not one for each of 500 agents.
  new AnnotationQueryBuilder()
    .name('Systemic or correlated failure')
    .datasource(DATASOURCE)
    .enable(true)
    .iconColor(COLOUR.vermilion)
    .expr(sharedCauseMark())
    // By default, Grafana evaluates once a minute and misses shorter events. For long ranges it uses longer steps by itself.
    .step('15s')
    .titleFormat(`{{${ALERT.name}}}`)
    .textFormat('Several tools failed as one event. The dashboard Correlated failures lists the tools and agents.'),
  new AnnotationQueryBuilder()
    .name('Actions of operators')
    .datasource(DATASOURCE)
    .enable(true)
    .iconColor(COLOUR.blue)
    .expr(`${sumBy([ATTR.agent, ATTR.action, ATTR.result], gained(METRIC.operatorActions, '$__rate_interval'))} > 0`)
    .step('15s')
    .titleFormat(`{{${label(ATTR.action)}}} by an operator: {{${label(ATTR.result)}}}`)
    .textFormat(`On {{${agent}}}. The audit file of the agent says who, and why.`)
    .tagKeys(agent),
  // Off by default, because a large fleet has many. The value is the exact time of the opening, in ms.
  new AnnotationQueryBuilder()
    .name('Openings')
    .datasource(DATASOURCE)
    .enable(false)
    .iconColor(COLOUR.orange)
    .expr(
      `max by (${[ATTR.agent, ATTR.tool, ATTR.errorType].map(label).join(', ')}) (${series(METRIC.openedTime)} > 0) * 1000`,
    )
    .useValueForTime(true)
    .titleFormat('Circuit opened')
    .textFormat(`{{${tool}}} of {{${agent}}}: {{${label(ATTR.errorType)}}}`)
    .tagKeys([agent, tool].join(',')),
];
