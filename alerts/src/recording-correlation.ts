import { OTHER_TOOL } from '@breakerbox/core';
import { durationOf, seconds } from './duration.ts';
import {
  AGENT,
  ATTR,
  aggregated,
  BY_AGENT,
  BY_TOOL,
  bracketed,
  ERROR,
  indented,
  joined,
  METRIC,
  NOT_CLOSED,
  ONLY_TOOLS,
  TOOL,
} from './promql.ts';
import type { Ground, Recording, RecordKey } from './record.ts';
import { type RuleSettings, WINDOW } from './settings.ts';

/**
 * A duration as a number of seconds to compare Unix times with, written as a product (`2 * 60`), so that it is easy to find and
 * scale in a faster demonstration.
 */
export const asSeconds = (duration: string): string => `${seconds(duration) / 60} * 60`;

/** Those of `members` that opened at most this long before the latest of their group. */
const latest = (by: string, members: string, within: string): string =>
  `${members}\n>= on (${by}) group_left ()\n(${aggregated('max', by, members)} - ${asSeconds(within)})`;

const together = (by: string, members: string, within: string): string =>
  aggregated('count', by, latest(by, members, within));

const recent = (by: string, members: string, age: string): string =>
  `${aggregated('max', by, members)} >= time() - ${asSeconds(age)}`;

/** How old an opening may be of what was found in the last hour. */
export const oldest = ({ correlatedHold, correlatedMemory }: RuleSettings): string =>
  durationOf(Math.min(seconds(correlatedHold), seconds(WINDOW.hour) + seconds(correlatedMemory)));

/** The last openings by agent, tool and category, across jobs: an agent in two jobs is one agent. */
const byAgent = ({ read }: Ground): string =>
  aggregated('max', `${AGENT}, ${TOOL}, ${ERROR}`, read.now('lastOpenings'));

/** How many agents are needed: the least number, or the share of all agents that have the tool. */
const enoughAgents = ({ read, settings: { correlatedAgents, correlatedShare } }: Ground): string =>
  `clamp_min(\n${indented(`${correlatedShare} * ${read.now('agentsOfTool')}`)},\n  ${correlatedAgents}\n)`;

interface Keys {
  readonly found: RecordKey;
  readonly since: RecordKey;
  readonly held: RecordKey;
}
const OF_TOOLS: Keys = { found: 'correlatedTools', since: 'correlatedToolsSince', held: 'correlatedToolsHeld' };
const OF_AGENTS: Keys = { found: 'correlatedAgents', since: 'correlatedAgentsSince', held: 'correlatedAgentsHeld' };

/** The first opening of those that were found. It stays for as long as the rule holds. */
const since = ({ read, settings }: Ground, key: Keys, by: string, members: string): string => {
  const { gap, correlatedWithin } = settings;
  const found = `${latest(by, members, correlatedWithin)}\nand on (${by}) ${read.now(key.found)}`;
  const before = `last_over_time(${read.over(key.since, gap)})\nand last_over_time(${read.over(key.held, gap)})`;
  const marked = `label_replace(\n${indented(`${before},\n"before", "yes", "", ""`)}\n)`;
  return `min by (${by}) (\n${indented(joined('or', found, marked))}\n)`;
};

/**
 * Found now, or held: as many tools or agents that opened with this category since then are still out of use, and the rule held at each
 * evaluation since. Grafana records nothing, so there the rule holds if it was found within the last hour.
 *
 * @param members groups of series of the last opening
 */
const held = (
  { series, read, settings, recorded }: Ground,
  key: Keys,
  by: string,
  members: string,
  least: number,
): string => {
  const opened = `last_over_time(${series(METRIC.openedTime, {}, ONLY_TOOLS)}[${settings.gap}])`;
  const outOfUse = recorded
    ? `${read.now('outOfUse')} > 0`
    : `${read.now('notClosed')} > 0 >= ${settings.openShare} * ${read.now('circuits')}`;
  const first = recorded
    ? `on (${by}) group_left () ${read.now(key.since)}`
    : `time() - ${asSeconds(oldest(settings))}`;
  const still = `${opened} >= ${first}\nand on (${BY_TOOL}) (${outOfUse})`;
  const many = `count by (${by}) (\n${indented(aggregated('max', members, still))}\n) >= ${least}`;
  // What was found in the last hour and opened in the last minutes is found now. Each definition once, because there it is the query.
  if (!recorded) {
    const now = recent(by, opened, settings.correlatedRecent);
    return `max_over_time(${read.over(key.found, WINDOW.hour)})\nand ${bracketed(joined('or', many, now))}`;
  }
  const holds = [
    many,
    `and ${read.now(key.since)} >= time() - ${asSeconds(settings.correlatedHold)}`,
    `and last_over_time(${read.over(key.held, settings.gap)})`,
  ].join('\n');
  return `${read.now(key.found)}\nor\n${bracketed(holds)}`;
};

/** A tool of a process: each process takes back only its own openings. */
const BY_OWN_TOOL = `job, instance, ${AGENT}, ${TOOL}`;

/**
 * The openings of the last minutes, without those that were taken back. An opening is taken back if the counter shows it while the
 * gauge has no value or 0. The newest value counts, because 0 is lower than the earlier time.
 */
const remembered = ({ series, read, settings: { correlatedMemory } }: Ground): string => {
  const opened = series(METRIC.openedTime, {}, ONLY_TOOLS);
  const takenBack = read.over('takenBack', correlatedMemory);
  return [
    `last_over_time(${opened}[${correlatedMemory}])`,
    `unless on (${BY_OWN_TOOL}) (`,
    indented(`max_over_time(${takenBack})\nunless on (${BY_OWN_TOOL}) ${opened} > 0`),
    ')',
  ].join('\n');
};

/**
 * Tools of which all circuits that are not closed wait, or waited in the last minutes, because their service asked (Retry-After). No series of
 * its own: groups are evaluated in any order, so it would come too late for an opening of this moment.
 */
const askedToWait = ({ series }: Ground): string => {
  const asked = aggregated('sum', BY_TOOL, `max_over_time(${series(METRIC.circuitsWaiting)}[10m])`);
  const notClosed = aggregated('sum', BY_TOOL, series(METRIC.circuits, { [ATTR.state]: NOT_CLOSED }));
  return `${asked} > 0\nunless ${notClosed} > ${asked}`;
};

/** Openings of several tools or agents that belong together. */
export const CORRELATION: readonly Recording[] = [
  {
    key: 'takenBack',
    comment:
      'Openings of a process that its gauge no longer shows, although its counter counted them. A series of its own, because there are few: otherwise the rule below would read all counters at 20 points in time.',
    expr: ({ series }) => {
      const ever = series(METRIC.transitions, { [ATTR.stateFrom]: ['closed'], [ATTR.stateTo]: ['open'] }, ONLY_TOOLS);
      const now = `${series(METRIC.openedTime, {}, ONLY_TOOLS)} > 0`;
      return aggregated('max', BY_OWN_TOOL, `${ever} > 0\nunless on (${BY_OWN_TOOL}) ${now}`);
    },
  },
  {
    key: 'crowd',
    comment:
      'The number of openings below which they may be chance, for tools with so many circuits that it is above 1. No value for others.',
    expr: ({ read, settings: { openShare, correlatedMemory } }) =>
      `${openShare} * max_over_time(${read.over('circuits', correlatedMemory)}) > 1`,
    every: '1m',
  },
  {
    key: 'agentsOfTool',
    comment:
      'Agents that have the tool, across jobs. A series of its own, because it changes slowly and reads all tools.',
    expr: ({ read, settings: { correlatedMemory } }) => {
      const each = `last_over_time(${read.over('circuits', correlatedMemory)})`;
      return aggregated('count', TOOL, aggregated('count', `${AGENT}, ${TOOL}`, each));
    },
    every: '1m',
  },
  {
    key: 'lastOpenings',
    comment: `When a circuit of the tool last opened with each category. From the gauge, not from a counter, because the gauge also shows a first opening and one right after a restart. The series remembers an opening for a while, in case the process ends or a scrape is missed. It does not remember openings that the process took back: when the circuit of a group opens, its tools lose their own openings, although their counters have counted them. Neither does it contain tools whose circuits wait because their service asked (Retry-After). Tools of which very few circuits opened are left out as chance: among hundreds of sessions, each tool is always open in some session. ${OTHER_TOOL} is not a tool.`,
    expr: (ground) => {
      const { read } = ground;
      // Without recorded series, tools without an opening have 0, and the query has each definition once.
      const chance = ground.recorded
        ? `${read.now('crowd')}\nunless ${read.now('openings5m')} >= ${read.now('crowd')}`
        : `${read.now('crowd')}\n> ${read.now('openings5m')}`;
      return joined(
        `unless on (${BY_TOOL})`,
        aggregated('max', `${BY_TOOL}, ${ERROR}`, remembered(ground)),
        bracketed(chance),
        bracketed(askedToWait(ground)),
      );
    },
  },
  {
    key: 'correlatedTools',
    comment:
      'Tools of one agent whose circuits opened close together with one category. Close to the LATEST of them, so that the delay of a scrape or push does not matter, and neither do openings of an hour ago.',
    expr: ({ read, recorded, settings: { correlatedTools, correlatedWithin, correlatedRecent } }) => {
      const by = `${BY_AGENT}, ${ERROR}`;
      const found = `${together(by, read.now('lastOpenings'), correlatedWithin)} >= ${correlatedTools}`;
      return recorded ? joined('and', found, recent(by, read.now('lastOpenings'), correlatedRecent)) : found;
    },
  },
  {
    key: 'correlatedAgents',
    comment:
      'Agents whose circuits of one tool opened close together with one category. Among hundreds of agents with a popular tool, some always do, so a share of the agents that have the tool is required.',
    expr: (ground) => {
      const by = `${TOOL}, ${ERROR}`;
      const { correlatedWithin, correlatedRecent } = ground.settings;
      const found = `${together(by, byAgent(ground), correlatedWithin)}\n>= on (${TOOL}) group_left ()\n${enoughAgents(ground)}`;
      return ground.recorded ? joined('and', found, recent(by, byAgent(ground), correlatedRecent)) : found;
    },
  },
  {
    key: 'correlatedToolsSince',
    comment: 'When the first of them opened, as a Unix time, for as long as the rules below hold.',
    expr: (ground) => since(ground, OF_TOOLS, `${BY_AGENT}, ${ERROR}`, ground.read.now('lastOpenings')),
  },
  {
    key: 'correlatedAgentsSince',
    comment: '',
    expr: (ground) => since(ground, OF_AGENTS, `${TOOL}, ${ERROR}`, byAgent(ground)),
  },
  {
    key: 'correlatedToolsHeld',
    comment:
      'The same, held while as many tools or agents that opened with this category since then are still out of use. The rule reads its own last value, so that once it is over, later failures with other causes do not bring it back.',
    expr: (ground) =>
      held(ground, OF_TOOLS, `${BY_AGENT}, ${ERROR}`, `${BY_TOOL}, ${ERROR}`, ground.settings.correlatedTools),
  },
  {
    key: 'correlatedAgentsHeld',
    comment: '',
    expr: (ground) =>
      held(ground, OF_AGENTS, `${TOOL}, ${ERROR}`, `${AGENT}, ${TOOL}, ${ERROR}`, ground.settings.correlatedAgents),
  },
];
