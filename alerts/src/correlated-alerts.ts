import type { AlertDefinition } from './alert.ts';
import type { AlertLabel, Dialect } from './dialect.ts';
import { inWords } from './duration.ts';
import { AGENT, BY_TOOL, ERROR, METRIC, NOT_CLOSED, TOOL } from './promql.ts';
import { NO_OTHER } from './recording-correlation.ts';
import type { RuleSettings } from './settings.ts';

const COMMENT =
  'It holds on while as many are still out of use, so that what Alertmanager mutes meanwhile doesn’t all come out when the openings are old; `keep_firing_for` lets the last of them resolve.';

const common = {
  name: 'BreakerboxCorrelatedOpenings',
  severity: 'critical',
  dashboard: 'breakerbox-correlated-failures',
  says: ({ correlatedTools, correlatedAgents, correlatedShare, correlatedWithin }: RuleSettings): string =>
    `${correlatedTools} tools of one agent, or one tool on ${correlatedAgents} agents (and ${correlatedShare * 100} % of those that have it), opened within ${inWords(correlatedWithin)} with one error category; stays while they are out of use`,
  keepFiringFor: ({ correlatedKeep }: RuleSettings): string => correlatedKeep,
} as const;

/** The names of those that opened of late, or are still not closed. */
const names = (
  dialect: Dialect,
  list: 'agent' | 'tool',
  matchers: string,
  args: readonly AlertLabel[],
  andSelector: string,
): string => {
  const opened = `${METRIC.openedTime.prometheus}{${matchers}, ${ERROR}=%q${andSelector}}`;
  const notClosed = `${METRIC.circuits.prometheus}{breakerbox_state=~"${NOT_CLOSED.join('|')}"${andSelector}}`;
  return dialect.query({
    before: ':',
    query: `max by (${list === 'tool' ? TOOL : AGENT}) (${opened} > time() - 10 * 60 or ${opened} > 0 and on (${BY_TOOL}) sum by (${BY_TOOL}) (${notClosed}) > 0)`,
    args: [...args, 'error', ...args, 'error'],
    list,
    after: '',
  });
};

const ofOneAgent: AlertDefinition = {
  ...common,
  scope: 'agent',
  labels: ['job', 'agent', 'error'],
  comment: `Several tools of one agent, seen across its processes: within one session the engine finds that out itself. ${COMMENT}`,
  expr: ({ read }) => read.now('correlatedToolsHeld'),
  summary: ({ dialect }) => `Several tools of agent ${dialect.label('agent')} opened together`,
  description: ({ dialect, settings, andSelector }) =>
    `${dialect.value('count')} tools of agent ${dialect.label('agent')} (job ${dialect.label('job')}) opened within ${inWords(settings.correlatedWithin)} by errors of category ${dialect.label('error')}, or are still out of use since${names(dialect, 'tool', `job=%q, ${AGENT}=%q, ${NO_OTHER}`, ['job', 'agent'], andSelector)}. Look for what they share: their own warnings are held back meanwhile.`,
};

const onSeveralAgents: AlertDefinition = {
  ...common,
  scope: 'fleet',
  labels: ['tool', 'error'],
  comment: `One tool that several agents lose: the service behind it, not an agent. ${COMMENT}`,
  expr: ({ read }) => read.now('correlatedAgentsHeld'),
  summary: () => 'A tool opened on several agents together',
  description: ({ dialect, settings, andSelector }) =>
    `Tool ${dialect.label('tool')} opened on ${dialect.value('count')} agents within ${inWords(settings.correlatedWithin)} by errors of category ${dialect.label('error')}, or is still out of use there since${names(dialect, 'agent', `${TOOL}=%q`, ['tool'], andSelector)}. Look at the service behind it: the warnings of the single agents are held back meanwhile.`,
};

/** Alerts about openings that belong together. */
export const CORRELATED_ALERTS: readonly AlertDefinition[] = [ofOneAgent, onSeveralAgents];
