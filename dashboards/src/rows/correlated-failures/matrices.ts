import { LOOKS, type Shared, shortestStep, togetherMatrix } from '../../correlation.ts';
import type { Together } from '../../limits.ts';
import { type DataLink, fromRow, UID } from '../../links.ts';
import { matrix } from '../../matrix.ts';
import { ATTR } from '../../names.ts';
import { CATEGORY_COLOURS, COLOUR } from '../../palette.ts';

const CELLS = 100;
const face = { unit: 'none', width: 12, height: 8 } as const;

interface Side {
  readonly title: string;
  readonly description: string;
  readonly shared: Shared;
  readonly row: string;
  readonly link: DataLink;
}

const together = ({ title, description, shared, row, link }: Side, seconds: number, least: number) =>
  matrix(
    { ...face, title, description },
    { attribute: shared, title: row, links: [link] },
    { attribute: ATTR.errorType, values: Object.keys(CATEGORY_COLOURS) },
    togetherMatrix(shared, seconds, CELLS),
    { from: least, colour: COLOUR.orange },
  )
    .interval(shortestStep(seconds))
    .maxDataPoints(LOOKS);

/** The number that the alert uses for an agent. A column with colour at many agents is a cause that they share. */
export const toolsOfAgents = ({ seconds, tools: least }: Together) =>
  together(
    {
      title: 'Tools that opened together in range, by agent and error',
      description: `The most tools of the agent that opened with this error within ${seconds} s, in the time range shown; the ${CELLS} highest, with colour from ${least} on. Colour in one row: the cause is in that agent. Colour in one column at several agents: they share the cause.`,
      shared: ATTR.agent,
      row: 'Agent',
      link: fromRow(UID.failureBudget, 'Failure budget of the agent', { [ATTR.agent]: 'Agent' }),
    },
    seconds,
    least,
  );

/** The number that the alert uses for the fleet. */
export const agentsOfTools = ({ seconds, agents: least }: Together) =>
  together(
    {
      title: 'Agents with one tool in range, by tool and error',
      description: `The most agents on which the tool opened with this error within ${seconds} s, in the time range shown; the ${CELLS} highest, with colour from ${least} on. With colour, the cause is the tool or the network to it, not an agent.`,
      shared: ATTR.tool,
      row: 'Tool',
      link: fromRow(UID.toolDetail, 'Tool detail', { [ATTR.tool]: 'Tool' }),
    },
    seconds,
    least,
  );
