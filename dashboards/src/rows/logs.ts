import { LogsSortOrder } from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder as LogsBuilder } from '@grafana/grafana-foundation-sdk/logs';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/loki';
import { ATTR, label } from '../names.ts';
import type { Row } from '../panels.ts';
import { LOKI, OF_SCOPE } from '../variables.ts';

/**
 * As Loki stores records that it receives by OTLP: attributes without dots, and the scope by its name. An event of an agent has no tool. Filters
 * by level come after the scope: see `atLevels()`.
 */
const RECORDS = [
  '{service_name=~".+"}',
  OF_SCOPE,
  `${label(ATTR.agent)}=~"$agent"`,
  `${label(ATTR.tool)}=~"$tool|"`,
].join(' | ');

/** What the engine says happened, one line for each event. */
export const logsRow = (): Row => ({
  title: 'Logs',
  panels: [
    new LogsBuilder()
      .title('Events')
      .description(
        'The log records of the selected agents and tools, the newest first: circuits that open and close, tools that fail together, budgets that are used up, and actions of operators. Open a line for its attributes and its trace. Records of an agent that name no single tool are always here. The selected namespaces and clusters narrow the records that have k8s.namespace.name and k8s.cluster.name. The selected jobs and the selector of the bundle do not narrow them, because Loki does not have those labels. Empty if the agents send no logs to this Loki.',
      )
      .datasource(LOKI)
      .span(24)
      .height(9)
      .showTime(true)
      .wrapLogMessage(true)
      .enableLogDetails(true)
      .sortOrder(LogsSortOrder.Descending)
      .withTarget(new DataqueryBuilder().datasource(LOKI).refId('A').expr(RECORDS).maxLines(200)),
  ],
});
