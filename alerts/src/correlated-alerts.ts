import { type AlertDefinition, LOOK, type TextGround } from './alert.ts';
import { type AlertLabel, type Dialect, type InText, ofAll, type TextQuery } from './dialect.ts';
import { inWords } from './duration.ts';
import { MOST_IN_TITLE } from './failing.ts';
import { AGENT, BY_AGENT, BY_TOOL, ERROR, METRIC, NOT_CLOSED, ONLY_TOOLS, TOOL } from './promql.ts';
import type { RuleSettings } from './settings.ts';

const COMMENT =
  'The alert holds while as many are still out of use. Otherwise Alertmanager would send all muted alerts as soon as the openings are old. `keep_firing_for` gives the last of them time to resolve.';

const common = {
  name: 'BreakerboxCorrelatedOpenings',
  severity: 'critical',
  dashboard: 'breakerbox-correlated-failures',
  says: ({ correlatedTools, correlatedAgents, correlatedShare, correlatedWithin }: RuleSettings): string =>
    `${correlatedTools} tools of one agent, or one tool on ${correlatedAgents} agents (and at least ${correlatedShare * 100} % of the agents that have it), opened within ${inWords(correlatedWithin)} with one error category; holds while they are out of use`,
  keepFiringFor: ({ correlatedKeep }: RuleSettings): string => correlatedKeep,
} as const;

const openedSeries = (matchers: string, andSelector: string): string =>
  `${METRIC.openedTime.prometheus}{${matchers}, ${ERROR}=%q${andSelector}}`;

/** Openings of the last ten minutes, and those whose tools are still not closed. */
const openings = (matchers: string, andSelector: string): { readonly recent: string; readonly lasting: string } => {
  const opened = openedSeries(matchers, andSelector);
  const notClosed = `${METRIC.circuits.prometheus}{breakerbox_state=~"${NOT_CLOSED.join('|')}"${andSelector}}`;
  return {
    recent: `${opened} > time() - 10 * 60`,
    lasting: `${opened} > 0 and on (${BY_TOOL}) sum by (${BY_TOOL}) (${notClosed}) > 0`,
  };
};

/** The first of those openings. */
const beganWith =
  (matchers: string, args: readonly AlertLabel[]) =>
  ({ andSelector }: TextGround): TextQuery => {
    const { recent, lasting } = openings(matchers, andSelector);
    return { query: `min(${recent}) or min(${lasting})`, args: [...args, 'error', ...args, 'error'] };
  };

/** The names of the tools or agents that opened recently or are still not closed. */
const names = (
  dialect: Dialect,
  list: 'agent' | 'tool',
  matchers: string,
  args: readonly AlertLabel[],
  andSelector: string,
  inTitle?: Pick<InText, 'before' | 'most' | 'otherwise'>,
): string => {
  const { recent, lasting } = openings(matchers, andSelector);
  const by = list === 'tool' ? `${BY_AGENT}, ${ERROR}` : `${TOOL}, ${ERROR}`;
  const listed = list === 'tool' ? TOOL : BY_AGENT;
  return dialect.query({
    before: ': ',
    ofAll: { by, query: `max by (${by}, ${listed}) (${ofAll(`${recent} or ${lasting}`)})` },
    query: `max by (${list === 'tool' ? TOOL : AGENT}) (${recent} or ${lasting})`,
    args: [...args, 'error', ...args, 'error'],
    list,
    after: '',
    ...inTitle,
  });
};

const OF_TOOL = `${TOOL}=%q`;
const OF_AGENT = `job=%q, ${AGENT}=%q, ${ONLY_TOOLS}`;

const ofOneAgent: AlertDefinition = {
  ...common,
  scope: 'agent',
  labels: ['job', 'agent', 'error'],
  comment: `Several tools of one agent, across its processes. Within one session, the session itself detects this. ${COMMENT}`,
  expr: ({ read }) => read.now('correlatedToolsHeld'),
  summary: ({ dialect, andSelector }) =>
    `${dialect.label('agent')}: ${names(dialect, 'tool', OF_AGENT, ['job', 'agent'], andSelector, { before: '', most: MOST_IN_TITLE, otherwise: 'several tools' })} opened together (${dialect.label('error')})`,
  began: beganWith(OF_AGENT, ['job', 'agent']),
  description: ({ dialect, settings, andSelector }) =>
    `At least ${dialect.value('count')} tools of agent ${dialect.label('agent')} (job ${dialect.label('job')}) opened within ${inWords(settings.correlatedWithin)} of each other with errors of category ${dialect.label('error')}, or did so earlier and are still out of use${names(dialect, 'tool', OF_AGENT, ['job', 'agent'], andSelector)}. Look for what these tools share.${dialect.muting(' While this alert fires, Alertmanager mutes the warnings of the single tools.')} ${LOOK}`,
};

const onSeveralAgents: AlertDefinition = {
  ...common,
  scope: 'fleet',
  labels: ['tool', 'error'],
  comment: `One tool that opened on several agents. The cause is the service behind it, not an agent. ${COMMENT}`,
  expr: ({ read }) => read.now('correlatedAgentsHeld'),
  summary: ({ dialect }) => `${dialect.label('tool')} opened on several agents together (${dialect.label('error')})`,
  began: beganWith(OF_TOOL, ['tool']),
  description: ({ dialect, settings, andSelector }) =>
    `Tool ${dialect.label('tool')} (all jobs) opened on at least ${dialect.value('count')} agents within ${inWords(settings.correlatedWithin)} with errors of category ${dialect.label('error')}, or did so earlier and is still out of use there${names(dialect, 'agent', OF_TOOL, ['tool'], andSelector)}. Look at the service behind the tool.${dialect.muting(' Alertmanager mutes the warnings of the single agents during this alert.')} ${LOOK}`,
};

/** Alerts about circuits that opened together. */
export const CORRELATED_ALERTS: readonly AlertDefinition[] = [ofOneAgent, onSeveralAgents];
