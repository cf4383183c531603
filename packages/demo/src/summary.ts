import type { Decision, Route } from '@breakerbox/core';
import type { DemoReport } from './demo-report.ts';
import { clockTime } from './duration.ts';
import type { AlertLabels } from './journal.ts';
import { formatMessage } from './message.ts';

/** The summary of the demo, for a person. */
export const summary = (done: DemoReport): string => {
  const { circuits, budgets, systemic, scope, reports, alerts } = done;
  const sum = (kind: Decision): number => done.decisions.reduce((total, counts) => total + counts[kind], 0);
  const sent = (kind: Route['kind']): number => done.routes.reduce((total, counts) => total + counts[kind], 0);
  const lines = [
    `Breakerbox demo, ${clockTime(done.durationMs)} long`,
    `  tool calls    ${sum('call')} made, ${sum('probe')} probes; ${sum('skip')} skipped and ${sum('pause')} paused`,
    `  instead       ${sent('alternative')} to another tool, ${sent('stale')} last good results, ${sent('manual')} by hand, ${sent('defer')} deferred`,
    `  tasks         ${scope.deferred} times deferred because their tools were unavailable`,
    `  circuits      ${circuits.opened} opened, ${circuits.closed} closed again by a probe`,
    `  budgets       ${budgets.exhausted} exhausted, ${budgets.resumed} resumed by the operator`,
    `  systemic      ${systemic.length === 0 ? 'none' : systemic.map(describeSystemic).join('; ')}`,
    `  pauses        ${reports.length === 0 ? 'none' : `${reports.length}, each with a report`}`,
    `  alerts        ${describeAlerts(done)}`,
    ...alerts.delivered
      .filter(({ status }) => status === 'firing')
      .map(({ atMs, labels }) => `    ${clockTime(atMs)} delivered  ${describeLabels(labels)}`),
    ...alerts.inhibited.map(({ atMs, labels }) => `    ${clockTime(atMs)} inhibited  ${describeLabels(labels)}`),
    ...latestMessage(done),
  ];
  return `${lines.join('\n')}\n`;
};

const MESSAGE_COLUMNS = 100;

/** The latest message that the operator got. */
const latestMessage = ({ alerts }: DemoReport): readonly string[] => {
  const latest = alerts.messages.at(-1);
  if (latest === undefined) return [];
  const text = formatMessage(latest, MESSAGE_COLUMNS - INDENT.length);
  const heading = `  messages      ${alerts.messages.length} sent to people. The latest, at ${clockTime(latest.atMs)}:`;
  return [heading, '', ...text.split('\n').map((line) => INDENT + line)];
};

const INDENT = '    ';

const describeSystemic = ({ agent, tools, category }: DemoReport['systemic'][number]): string =>
  `${agent}: ${tools.join(' and ')} together (${category ?? 'mixed'})`;

const describeAlerts = ({ alerts, stack }: DemoReport): string => {
  if (stack.prometheus === 'off' || stack.prometheus === 'missing') return 'none, because Prometheus did not run';
  if (stack.alertmanager === 'off' || stack.alertmanager === 'missing') {
    return 'none delivered, because Alertmanager did not run';
  }
  const firing = alerts.delivered.filter(({ status }) => status === 'firing').length;
  const down = Object.entries(stack).filter(([, state]) => state === 'down');
  const note = down.map(([name]) => `; ${name} was down at the end`).join('');
  return `${firing} delivered, ${alerts.inhibited.length} inhibited${note}`;
};

/** `BreakerboxCircuitOpen ops-agent/get-sum`. */
export const describeLabels = ({ alertname, gen_ai_agent_name: agent, gen_ai_tool_name: tool }: AlertLabels): string =>
  `${alertname ?? 'unnamed'} ${[agent, tool].filter(Boolean).join('/')}`;
