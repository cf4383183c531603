import type { BoxState, Change, SessionState } from '@breakerbox/control/client';
import { NO_LIMIT, spentOf } from '@breakerbox/core/internal';
import { onOneLine, plainTable } from '../plain-table.ts';
import type { Found } from './targets.ts';

type Row = readonly string[];

/** `3 min`, `2 h`. */
export const duration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
};

/** Circuits of a session that are shown: a cell with many is hard to read, and takes long to lay out. */
const MOST_SHOWN = 20;

const openOnes = ({ circuits }: SessionState): string => {
  const open = circuits.filter(({ state, failedKeys = 0 }) => state !== 'closed' || failedKeys > 0);
  const shown = open.slice(0, MOST_SHOWN).map(({ tool, state, category, failedKeys = 0 }) => {
    const keys = failedKeys > 0 ? `${failedKeys} keys failed in a row` : undefined;
    const why = category ?? keys;
    return `${tool} ${state}${why === undefined ? '' : ` (${why})`}`;
  });
  const more = open.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
};

/** What is kept counts too (D3). */
const partOf = ({ used, kept = 0, size }: NonNullable<SessionState['limits']>[number]): number => (used + kept) / size;

/** D2: the limit that is used most, by its part; `-` without limits. */
const limitOf = ({ limits = [] }: SessionState): string => {
  const [most] = limits.toSorted((a, b) => partOf(b) - partOf(a));
  return most === undefined ? '-' : spentOf({ ...most, currency: most.currency });
};

const rowOf = (agent: string, pid: number, session: SessionState): Row => [
  agent,
  `${pid}`,
  session.id,
  session.state,
  session.budget.limit === NO_LIMIT ? '-' : `${session.budget.remaining}/${session.budget.limit}`,
  limitOf(session),
  duration(session.ageMs),
  openOnes(session) || '-',
];

const HEAD: Row = ['agent', 'process', 'session', 'state', 'budget', 'limit', 'age', 'not closed'];
const LIMIT_COLUMN = HEAD.indexOf('limit');

/** Most agents have no limits. */
const withoutLimits = (rows: readonly Row[]): readonly Row[] =>
  rows.slice(1).some((row) => row[LIMIT_COLUMN] !== '-') ? rows : rows.map((row) => row.toSpliced(LIMIT_COLUMN, 1));

const modesOf = ({ agent, modes }: BoxState, now: number): readonly Row[] =>
  modes.map(({ tool, mode, owner, reason, session, untilUnixMs }) => [
    agent,
    tool,
    mode,
    session ?? 'all sessions',
    owner,
    duration(untilUnixMs - now),
    reason,
  ]);

/** Rows of a table. More are hard to read, and take long to lay out. */
const MOST_ROWS = 200;

const table = ([head = [], ...rows]: readonly Row[], columns: number): string => {
  const more = rows.length - MOST_ROWS;
  const shown = [head, ...rows.slice(0, MOST_ROWS)].map((row) => row.map(onOneLine));
  return [plainTable(shown, columns, false), ...(more > 0 ? [`and ${more} more: see --json`] : [])].join('\n');
};

/** The first row of each list, then the second of each, so that none hides the others. */
const inTurn = (lists: readonly (readonly Row[])[]): readonly Row[] => {
  const rows: Row[] = [];
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  for (let index = 0; index < longest; index += 1) {
    for (const list of lists) if (index < list.length) rows.push(list[index] as Row);
  }
  return rows;
};

type FleetState = NonNullable<NonNullable<Found['state']>['fleet']>;

const fleetRow = (pid: number, { mode, why, ageMs, processes }: FleetState): readonly string[] => [
  `${pid}`,
  why === undefined ? mode : `${mode}: ${why}`,
  ageMs === undefined ? '-' : `${duration(ageMs)} ago`,
  `${processes ?? '-'}`,
];

/** G8: what the fleet shares, as the process that heard of it last tells. */
const fleetTables = (found: readonly Found[], columns: number): readonly string[] => {
  const members = found.flatMap(({ state }) =>
    state?.fleet === undefined ? [] : [{ pid: state.pid, fleet: state.fleet }],
  );
  if (members.length === 0) return [];
  const [latest] = members.map(({ fleet }) => fleet).toSorted((a, b) => (a.ageMs ?? Infinity) - (b.ageMs ?? Infinity));
  const circuits = (latest?.circuits ?? []).filter(({ state }) => state !== 'closed');
  const actions = latest?.actions ?? [];
  return [
    table(
      [['process', 'store', 'answered', 'processes'], ...members.map(({ pid, fleet }) => fleetRow(pid, fleet))],
      columns,
    ),
    ...(circuits.length === 0
      ? []
      : [
          table(
            [
              ['fleet', 'shared', 'state', 'for', 'probe'],
              ...circuits.map(({ fleet, name, state, category, seenBy, ageMs, holder }) => [
                fleet,
                name,
                state === 'open' ? `open (${category})` : `seen by ${seenBy}`,
                duration(ageMs),
                holder === undefined ? '-' : `by ${holder}`,
              ]),
            ],
            columns,
          ),
        ]),
    ...(actions.length === 0
      ? []
      : [
          table(
            [
              ['fleet', 'tool', 'action', 'owner', 'applied', 'ends in', 'reason'],
              ...actions.map(({ fleet, tool, action, mode, owner, applied, processes, leftMs, reason }) => [
                fleet,
                tool,
                mode ?? action,
                owner,
                applied === undefined ? '-' : `by ${applied} of ${processes}`,
                duration(leftMs),
                reason ?? '-',
              ]),
            ],
            columns,
          ),
        ]),
  ];
};

/** `breakerbox ctl list`: paused sessions first. */
export const listText = (found: readonly Found[], columns: number, now = Date.now()): string => {
  const boxes = found.flatMap(({ state }) => state?.boxes ?? []);
  const sessions = found.map(({ state }) =>
    (state?.boxes ?? []).flatMap(({ agent, sessions }) =>
      sessions.map((one) => ({ agent, pid: state?.pid ?? 0, one })),
    ),
  );
  const rowsOf = (isPaused: boolean): readonly (readonly Row[])[] =>
    sessions.map((all) =>
      all
        .filter(({ one }) => (one.state !== 'active') === isPaused)
        .map(({ agent, pid, one }) => rowOf(agent, pid, one)),
    );
  const rows = [...inTurn(rowsOf(true)), ...inTurn(rowsOf(false))];
  const modes = inTurn(found.map(({ state }) => (state?.boxes ?? []).flatMap((box) => modesOf(box, now))));
  const leftOut = boxes.reduce((sum, { sessionsLeftOut }) => sum + sessionsLeftOut, 0);
  const parts = [
    ...(boxes.length === 0 && found.some(({ error }) => error !== undefined)
      ? []
      : [
          rows.length === 0
            ? `No live session of ${boxes.map(({ agent }) => agent).join(', ') || 'any agent'}.`
            : table(withoutLimits([HEAD, ...rows]), columns),
        ]),
    ...boxes
      .flatMap(({ agent, uncounted = [] }) =>
        uncounted.map(
          ({ tool, errors, calls }) =>
            `${onOneLine(agent)}: ${errors} of ${calls} calls of ${onOneLine(tool)} came back with an error that is not counted.`,
        ),
      )
      .slice(0, MOST_ROWS),
    ...(leftOut === 0 ? [] : [`and ${leftOut} more live sessions, which are not listed because there are too many`]),
    ...(modes.length === 0
      ? []
      : [table([['agent', 'tool', 'mode', 'for', 'owner', 'ends in', 'reason'], ...modes], columns)]),
    ...fleetTables(found, columns),
    ...found.flatMap(({ error }) => (error === undefined ? [] : [onOneLine(error)])),
  ];
  return `${parts.join('\n\n')}\n`;
};

/** One line of `breakerbox ctl watch`. */
export const changeText = (change: Change): string => {
  const { unixMs, agent, session, kind, tool, from, to, category, limit, child, who, reason } = change;
  const what = kind === 'action' ? `${who}: ${to}` : kind === 'circuit.transition' ? `${from} to ${to}` : kind;
  const parts = [new Date(unixMs).toISOString(), agent, session, child, tool, what, limit ?? category ?? reason];
  return parts.filter((part) => part !== undefined).join('  ');
};
