import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { assembled } from './dashboard.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './limits.ts';
import { UID } from './links.ts';
import { circuitsRow } from './rows/tool-detail/circuits.ts';
import { fallbacksRow } from './rows/tool-detail/fallbacks.ts';
import { latencyRow } from './rows/tool-detail/latency.ts';
import { agentsRow } from './rows/tool-detail/tool-agents.ts';
import { callsRow } from './rows/tool-detail/tool-calls.ts';
import { nowRow } from './rows/tool-detail/tool-now.ts';
import type { DataSource } from './variables.ts';

/** One tool: the states of its circuit, why, and what the agents did instead. */
export const toolDetail = (settings: RuleSettings = DEFAULT_SETTINGS, logs?: DataSource): Dashboard =>
  assembled({
    uid: UID.toolDetail,
    title: 'Tool detail',
    description:
      'One tool, or a few: select them at the top. Shows the states of its circuits and why, how it answers, how it recovers, what was done instead, and its traces. group:NAME is the circuit of a group of tools, such as those of one MCP server.',
    rows: [nowRow(), circuitsRow(), callsRow(settings), latencyRow(), agentsRow(), fallbacksRow()],
    oneTool: true,
    logs,
  });
