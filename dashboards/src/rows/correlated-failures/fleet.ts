import { AGENT, AGENT_TOOL } from '../../circuit-state.ts';
import { ATTR, INSTANCE, JOB, label, METRIC } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { NO_FLEET, sized, stat, thresholds } from '../../panels.ts';
import { gained, highest, type Matchers, series, sumBy } from '../../promql.ts';
import { TOOL_KEYS, table, tight } from '../../table.ts';

/* Circuits that processes share through a store. No recorded series has processes, and nothing here is queried while the row is closed. */

const PROCESS_TOOL = [...AGENT_TOOL, INSTANCE] as const;
const ROWS = 100;
/** Fewer is the outage of one process. */
const SEVERAL = 2;

const up = series(METRIC.fleetUp);
/** 1 for a process whose store answers all of its agents, otherwise 0. */
const processes = `min by (${JOB}, ${INSTANCE}) (${up})`;
const read = series(METRIC.fleetReadTime);

const size = sized(6, 3, 'none');

/** Whether the store answers the processes. */
export const store = () => [
  stat(
    {
      ...size,
      title: 'Processes with the store',
      description: 'Processes that share circuits, and that the store (Redis) answers now.',
    },
    `sum(${processes})`,
  ).noValue(NO_FLEET),
  stat(
    {
      ...size,
      title: 'Processes without it',
      description:
        'Processes that share circuits, and that the store (Redis) does not answer. They decide by their own circuits, and no call waits. BreakerboxFleetDegraded fires if that lasts.',
    },
    `count(${processes} == 0) or sum(${processes}) * 0`,
    thresholds([1, COLOUR.orange]),
  ).noValue(NO_FLEET),
  stat(
    {
      ...size,
      title: 'Last answer of the store',
      description:
        'How old the last answer of the store was when Prometheus last read the metrics, for the process with the oldest. A process asks once a second.',
      unit: 's',
    },
    `max((timestamp(${read}) - ${read}) and ${read} > 0)`,
    thresholds([5, COLOUR.orange]),
  ).noValue(NO_FLEET),
  stat(
    {
      ...size,
      title: 'Records ignored 1h',
      description:
        'Records of the store (Redis) in the last hour that do not fit, and that processes ignored. Something else writes to the key of the fleet: the page Fleet of the documentation says what to do.',
    },
    `${sumBy([], gained(METRIC.fleetIgnored, '1h'))} or sum(${processes}) * 0`,
    thresholds([1, COLOUR.orange]),
  ).noValue(NO_FLEET),
];

/** Without agents that share nothing. */
const ofFleets = (expr: string): string => `(${expr}) and on (${AGENT.map(label).join(', ')}) ${sumBy(AGENT, up)}`;
const processesWith = (matchers: Matchers): string =>
  `count by (${AGENT_TOOL.map(label).join(', ')}) (${sumBy(PROCESS_TOOL, series(METRIC.circuits, matchers))} > 0)`;
const openIn = ofFleets(`${processesWith({ [ATTR.state]: ['open', 'half_open'] })} >= ${SEVERAL}`);

/** Shared circuits that are open now. */
export const openInSeveral = () =>
  tight(
    table(
      {
        title: 'Tools that are open in several processes',
        description: `Tools of agents that share circuits, open or half-open now in at least ${SEVERAL} processes: how many, and of how many. At most ${ROWS}. A shared circuit is open in all of them soon after it opened for the fleet. The metrics do not say which tools are shared: a tool that is not may be here too, if several processes found its outage by themselves.`,
        ...sized(12, 8, 'none'),
      },
      TOOL_KEYS,
      [
        { title: 'Open in', expr: `topk(${ROWS}, ${openIn})`, width: 90 },
        { title: 'Of', expr: highest(processesWith({}), ROWS, AGENT_TOOL, openIn), width: 70 },
      ],
      'Open in',
    ),
  ).noValue('No such tool');

const halfOpen = `${sumBy(PROCESS_TOOL, series(METRIC.circuits, { [ATTR.state]: ['half_open'] }))} > 0`;
const probed = `${sumBy(PROCESS_TOOL, gained(METRIC.decisions, '1h', { [ATTR.decision]: ['probe'] }))} > 0`;

/** Which process asks for all whether a tool works again. */
export const probes = () =>
  tight(
    table(
      {
        title: 'Probes by process',
        description: `Which processes of agents that share circuits have sent probes in the last hour, and which has a half-open circuit now: it holds the probe. At most ${ROWS}. In each round one process sends the probe of a shared circuit. If many processes probe at once, they are without the store, or the tool is not shared.`,
        ...sized(12, 8, 'none'),
      },
      [...TOOL_KEYS, { label: INSTANCE, title: 'Process', side: 'left' }],
      [
        { title: 'Probes 1h', expr: `topk(${ROWS}, ${ofFleets(probed)})`, absent: '–', width: 75 },
        { title: 'Holds it', expr: `topk(${ROWS}, ${ofFleets(`(${halfOpen}) ^ 0`)})`, absent: '–', width: 75 },
      ],
      'Probes 1h',
    ),
  ).noValue('No probes');
