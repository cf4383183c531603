import { AGENT } from '../circuit-state.ts';
import { fromRow, UID } from '../links.ts';
import { ATTR, label } from '../names.ts';
import { COLOUR } from '../palette.ts';
import { coloured, type Face, lines } from '../panels.ts';
import { highest, sumBy } from '../promql.ts';
import { grewOverall, grown } from '../recorded-forms.ts';
import { AGENT_COLUMNS, HIDDEN_JOB, table } from '../table.ts';
import { orZero } from '../zeros.ts';

type Size = Pick<Face, 'width' | 'height'>;
const ROWS = 50;

type Tokens = 'tokensAvoided' | 'tokensWasted';
const counted = (key: Tokens): string => orZero(grown([], key, '$__rate_interval'));

/** Both, for all selected agents and tools. */
export const tokens = (size: Size) =>
  coloured(
    lines(
      {
        ...size,
        title: 'Tokens wasted and avoided',
        description:
          "Wasted: spent on failed calls. They are drawn for one rate interval. Avoided is an estimate: each skipped call counts as much as the tool's failed calls cost on average. Both are 0 if the agents report no costs.",
        unit: 'short',
      },
      { expr: counted('tokensWasted'), legend: 'wasted' },
      { expr: counted('tokensAvoided'), legend: 'avoided (estimate)' },
    ),
    { wasted: COLOUR.orange, 'avoided (estimate)': COLOUR.green },
  );

const WHOSE = {
  [ATTR.agent]: {
    by: AGENT,
    column: 'Agent',
    ofOne: 'agent',
    keys: [HIDDEN_JOB],
    link: fromRow(UID.fleetOverview, 'Fleet overview of the agent', AGENT_COLUMNS),
  },
  [ATTR.tool]: {
    by: [ATTR.tool],
    column: 'Tool',
    ofOne: 'tool',
    keys: [],
    link: fromRow(UID.toolDetail, 'Tool detail', { [ATTR.tool]: 'Tool' }),
  },
} as const;

/** Both, in the time range, for each agent or tool. */
export const tokensBy = (whose: keyof typeof WHOSE, size: Size) => {
  const { by, column, ofOne, keys, link } = WHOSE[whose];
  const avoided = `label_replace(${grewOverall(by, 'tokensAvoided')}, "of", "avoided", "", "")`;
  const rank = sumBy(by, `${grewOverall(by, 'tokensWasted')} or ${avoided}`);
  const inTable = (key: Tokens): string => highest(`${grown(by, key, '$__range')} or ${rank} * 0`, ROWS, by, rank);
  return table(
    {
      ...size,
      title: `Tokens by ${ofOne} in range`,
      description: `Tokens spent on failed calls, and an estimate of the tokens saved by skipped calls, in the time range shown: the ${ROWS} with the most. 0 if the agents report no costs.`,
      unit: 'short',
    },
    [{ label: label(whose), title: column, side: 'left', links: [link] }, ...keys],
    [
      { title: 'Wasted', expr: inTable('tokensWasted'), width: 90 },
      { title: 'Avoided (est.)', expr: inTable('tokensAvoided'), width: 130 },
    ],
    'Wasted',
  ).noValue('No tokens');
};
