import { type AlertDefinition, LOOK, type TextGround } from './alert.ts';
import { type AlertLabel, type InText, ofAll, type TextQuery } from './dialect.ts';
import { inWords } from './duration.ts';
import { MOST_IN_TITLE } from './failing.ts';
import { AGENT, BY_AGENT, BY_TOOL, ERROR, METRIC, NOT_CLOSED, ONLY_TOOLS, TOOL } from './promql.ts';
import { RECORDED, type RecordKey } from './record.ts';
import { asSeconds, oldest } from './recording-correlation.ts';
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

/** Those that have opened together, and how a text finds them. */
interface Together {
  readonly list: 'agent' | 'tool';
  readonly since: RecordKey;
  readonly matchers: string;
  /** The labels that the matchers read. */
  readonly args: readonly AlertLabel[];
}

const sinceOf = ({ since, matchers, args }: Together): TextQuery => ({
  query: `${RECORDED[since]}{${matchers}, ${ERROR}=%q}`,
  args: [...args, 'error'],
});

/** The names of the tools or agents that have opened since then. Grafana knows only those of the last minutes, or of the last hour if they last. */
const names = (
  { dialect, settings, andSelector }: TextGround,
  together: Together,
  inTitle?: Pick<InText, 'before' | 'most' | 'otherwise'>,
): string => {
  const { list, matchers } = together;
  const [by, listed] = list === 'tool' ? [`${BY_AGENT}, ${ERROR}`, TOOL] : [`${TOOL}, ${ERROR}`, BY_AGENT];
  const only = list === 'tool' ? `, ${ONLY_TOOLS}` : '';
  const opened = `${METRIC.openedTime.prometheus}{${matchers}, ${ERROR}=%q${only}${andSelector}}`;
  const notClosed = `${METRIC.circuits.prometheus}{breakerbox_state=~"${NOT_CLOSED.join('|')}"${andSelector}}`;
  const lasting = `${opened} > time() - ${asSeconds(oldest(settings))} and on (${BY_TOOL}) sum by (${BY_TOOL}) (${notClosed}) > 0`;
  const since = sinceOf(together);
  return dialect.query({
    before: ': ',
    ofAll: {
      by,
      query: `max by (${by}, ${listed}) (${ofAll(`${opened} > time() - 10 * 60 or ${lasting}`)})`,
    },
    query: `max by (${list === 'tool' ? TOOL : AGENT}) (${opened} >= scalar(${since.query}))`,
    args: [...since.args, ...since.args],
    list,
    after: '',
    ...inTitle,
  });
};

const TOOLS: Together = {
  list: 'tool',
  since: 'correlatedToolsSince',
  matchers: `job=%q, ${AGENT}=%q`,
  args: ['job', 'agent'],
};
const AGENTS: Together = {
  list: 'agent',
  since: 'correlatedAgentsSince',
  matchers: `${TOOL}=%q`,
  args: ['tool'],
};

const ofOneAgent: AlertDefinition = {
  ...common,
  scope: 'agent',
  labels: ['job', 'agent', 'error'],
  comment: `Several tools of one agent, across its processes. Within one session, the session itself detects this. ${COMMENT}`,
  expr: ({ read }) => read.now('correlatedToolsHeld'),
  summary: (ground) =>
    `${ground.dialect.label('agent')}: ${names(ground, TOOLS, { before: '', most: MOST_IN_TITLE, otherwise: 'several tools' })} opened together (${ground.dialect.label('error')})`,
  began: () => sinceOf(TOOLS),
  description: (ground) => {
    const { dialect, settings } = ground;
    return `At least ${dialect.value('count')} tools of agent ${dialect.label('agent')} (job ${dialect.label('job')}) opened within ${inWords(settings.correlatedWithin)} of each other with errors of category ${dialect.label('error')}, or did so earlier and are still out of use${names(ground, TOOLS)}. Look for what these tools share.${dialect.muting(' While this alert fires, Alertmanager mutes the warnings of the single tools.')} ${LOOK}`;
  },
};

const onSeveralAgents: AlertDefinition = {
  ...common,
  scope: 'fleet',
  labels: ['tool', 'error'],
  comment: `One tool that opened on several agents. The cause is the service behind it, not an agent. ${COMMENT}`,
  expr: ({ read }) => read.now('correlatedAgentsHeld'),
  summary: ({ dialect }) => `${dialect.label('tool')} opened on several agents together (${dialect.label('error')})`,
  began: () => sinceOf(AGENTS),
  description: (ground) => {
    const { dialect, settings } = ground;
    return `Tool ${dialect.label('tool')} (all jobs) opened on at least ${dialect.value('count')} agents within ${inWords(settings.correlatedWithin)} with errors of category ${dialect.label('error')}, or did so earlier and is still out of use there${names(ground, AGENTS)}. Look at the service behind the tool.${dialect.muting(' Alertmanager mutes the warnings of the single agents during this alert.')} ${LOOK}`;
  },
};

/** Alerts about circuits that opened together. */
export const CORRELATED_ALERTS: readonly AlertDefinition[] = [ofOneAgent, onSeveralAgents];
