import { OTHER_TOOL } from '@breakerbox/core';
import { seconds } from './duration.ts';
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
  label,
  METRIC,
  TOOL,
} from './promql.ts';
import type { Ground, Recording, RecordKey } from './record.ts';
import { WINDOW } from './settings.ts';

/**
 * A duration as the number of seconds that Unix times are compared with, written so that whoever lets time run faster for a
 * demonstration finds it: `2 * 60`.
 */
export const asSeconds = (duration: string): string => `${seconds(duration) / 60} * 60`;

/** All that has no name of its own is no tool. */
export const NO_OTHER = `${TOOL}!="${OTHER_TOOL}"`;

/** How many of `members` opened at most the given time before the latest of their group. */
const together = (by: string, members: string, within: string): string =>
  aggregated(
    'count',
    by,
    `${members}\n>= on (${by}) group_left ()\n(${aggregated('max', by, members)} - ${asSeconds(within)})`,
  );

const recent = (by: string, members: string, age: string): string =>
  `${aggregated('max', by, members)} >= time() - ${asSeconds(age)}`;

/** The last openings by agent, tool and category, whatever the job: an agent in two jobs is one agent. */
const byAgent = ({ read }: Ground): string =>
  aggregated('max', `${AGENT}, ${TOOL}, ${ERROR}`, read.now('lastOpenings'));

/** From how many agents on: the least number, or the share of all agents that have the tool. */
const enoughAgents = ({ read, settings }: Ground): string => {
  const { correlatedAgents, correlatedShare, correlatedMemory } = settings;
  const all = `count by (${AGENT}, ${TOOL}) (last_over_time(${read.over('circuits', correlatedMemory)}))`;
  return `clamp_min(\n  ${correlatedShare} * count by (${TOOL}) (\n${indented(indented(all))}\n  ),\n  ${correlatedAgents}\n)`;
};

/**
 * Found, or held: as many are still out of use that opened with this category, and it has been found or held all along.
 * Grafana's rules record nothing that could tell: there, it was found within the hour.
 *
 * @param members groups of series of the last opening
 */
const held = (
  { series, read, settings, recorded }: Ground,
  key: { readonly found: RecordKey; readonly held: RecordKey },
  by: string,
  members: string,
  least: number,
): string => {
  const opened = `last_over_time(${series(METRIC.openedTime, {}, NO_OTHER)}[${settings.gap}])`;
  const still = `${opened} >= time() - ${asSeconds(settings.correlatedHold)}\nand on (${BY_TOOL}) (${read.now('outOfUse')} > 0)`;
  const before = recorded
    ? `last_over_time(${read.over(key.held, settings.gap)})`
    : `max_over_time(${read.over(key.found, WINDOW.hour)})`;
  const holds = `count by (${by}) (\n${indented(aggregated('max', members, still))}\n) >= ${least}\nand ${before}`;
  return `${read.now(key.found)}\nor\n${bracketed(holds)}`;
};

/** Of the same tool of the same process, because each one takes back openings of its own. */
const SAME_PROCESS = `ignoring (${ERROR}, ${label(ATTR.stateFrom)}, ${label(ATTR.stateTo)})`;

/**
 * The openings of the last minutes, without those that were taken back. An opening is taken back where the tool has opened, by
 * its counter, and the gauge says nothing or 0. The newest value counts, because 0 is less than the time before.
 */
const remembered = ({ series, settings: { correlatedMemory } }: Ground): string => {
  const opened = series(METRIC.openedTime, {}, NO_OTHER);
  const ever = series(METRIC.transitions, { [ATTR.stateFrom]: ['closed'], [ATTR.stateTo]: ['open'] }, NO_OTHER);
  const takenBack = `(${ever} > 0\nunless ${SAME_PROCESS} ${opened} > 0)[${correlatedMemory}:30s]`;
  return [
    `last_over_time(${opened}[${correlatedMemory}])`,
    `unless ${SAME_PROCESS} (`,
    indented(`max_over_time(${takenBack})\nunless ${SAME_PROCESS} ${opened} > 0`),
    ')',
  ].join('\n');
};

/** Openings of several tools or agents that belong together. */
export const CORRELATION: readonly Recording[] = [
  {
    key: 'lastOpenings',
    comment: `When a circuit of the tool last opened with each category. From the gauge, not from a counter: it has a first-ever opening, and one right after a restart. Remembered for a while, in case the process has gone or a scrape is missed. Not remembered is what the process has taken back: when the circuit of a group opens, its tools have no openings of their own any more, though their counters say that they have opened. Left out are tools of which so few circuits opened that it is chance: among hundreds of sessions each tool opens somewhere all the time. ${OTHER_TOOL} is no tool.`,
    expr: (ground) => {
      const { read, settings } = ground;
      const { openShare, correlatedMemory } = settings;
      const chance = `${openShare} * max_over_time(${read.over('circuits', correlatedMemory)})\n> clamp_min(${read.now('openings5m')}, 1)`;
      return joined(
        `unless on (${BY_TOOL})`,
        aggregated('max', `${BY_TOOL}, ${ERROR}`, remembered(ground)),
        bracketed(chance),
      );
    },
  },
  {
    key: 'correlatedTools',
    comment:
      'Tools of one agent whose circuits opened close together with one category. Close to the LATEST of them: how late a scrape or a push brings them doesn’t matter, and the openings of an hour ago don’t either.',
    expr: ({ read, settings: { correlatedTools, correlatedWithin, correlatedRecent } }) => {
      const by = `${BY_AGENT}, ${ERROR}`;
      return joined(
        'and',
        `${together(by, read.now('lastOpenings'), correlatedWithin)} >= ${correlatedTools}`,
        recent(by, read.now('lastOpenings'), correlatedRecent),
      );
    },
  },
  {
    key: 'correlatedAgents',
    comment:
      'Agents whose circuits of one tool opened close together with one category. Of hundreds of agents with a popular tool some always do: it must be a share of those that have the tool.',
    expr: (ground) => {
      const by = `${TOOL}, ${ERROR}`;
      const { correlatedWithin, correlatedRecent } = ground.settings;
      return joined(
        'and',
        `${together(by, byAgent(ground), correlatedWithin)}\n>= on (${TOOL}) group_left ()\n${enoughAgents(ground)}`,
        recent(by, byAgent(ground), correlatedRecent),
      );
    },
  },
  {
    key: 'correlatedToolsHeld',
    comment:
      'The same, held on to for as long as as many are still out of use that opened with this category, by what this rule itself said a moment ago: where it was over in between, tools that fail later for reasons of their own don’t bring it back.',
    expr: (ground) =>
      held(
        ground,
        { found: 'correlatedTools', held: 'correlatedToolsHeld' },
        `${BY_AGENT}, ${ERROR}`,
        `${BY_TOOL}, ${ERROR}`,
        ground.settings.correlatedTools,
      ),
  },
  {
    key: 'correlatedAgentsHeld',
    comment: '',
    expr: (ground) =>
      held(
        ground,
        { found: 'correlatedAgents', held: 'correlatedAgentsHeld' },
        `${TOOL}, ${ERROR}`,
        `${AGENT}, ${TOOL}, ${ERROR}`,
        ground.settings.correlatedAgents,
      ),
  },
];
