import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { ATTR, label, METRIC } from './names.ts';
import { COLOUR } from './palette.ts';
import { series, sumBy } from './promql.ts';
import { DATASOURCE } from './variables.ts';

const agent = label(ATTR.agent);
const tool = label(ATTR.tool);

/** Marks across all graphs. Grafana draws those points whose value is above zero; one mark for the whole fleet. */
export const annotations = (): AnnotationQueryBuilder[] => [
  new AnnotationQueryBuilder()
    .name('Systemic pause')
    .datasource(DATASOURCE)
    .enable(true)
    .iconColor(COLOUR.vermilion)
    .expr(sumBy([], series(METRIC.sessions, { [ATTR.sessionState]: ['paused_systemic'] })))
    .titleFormat('Systemic failure')
    .textFormat('Sessions are paused as systemic; the row of that name has their agents.'),
  // Off at first: in a large fleet there are many. The value is the very time of the opening, in ms.
  new AnnotationQueryBuilder()
    .name('Openings')
    .datasource(DATASOURCE)
    .enable(false)
    .iconColor(COLOUR.orange)
    .expr(
      `max by (${[ATTR.agent, ATTR.tool, ATTR.errorType].map(label).join(', ')}) (${series(METRIC.openedTime)}) * 1000`,
    )
    .useValueForTime(true)
    .titleFormat('Circuit opened')
    .textFormat(`{{${tool}}} of {{${agent}}}: {{${label(ATTR.errorType)}}}`)
    .tagKeys([agent, tool].join(',')),
];
