import { useEffect } from 'preact/hooks';
import type { ConsoleState } from '../../src/console/console-state.ts';
import { type AgentOverview, isSilent } from './overview.ts';
import { clockTime, count } from './words.ts';

const TITLE = 'Breakerbox console';

interface SummaryProps {
  readonly agents: readonly AgentOverview[];
  readonly state: ConsoleState | undefined;
  readonly lost: string | undefined;
}

/** The whole fleet on one line. */
export const Summary = ({ agents, state, lost }: SummaryProps) => {
  const total = (of: (agent: AgentOverview) => number): number => agents.reduce((sum, agent) => sum + of(agent), 0);
  const paused = total((one) => one.paused.length);
  const open = total((one) => one.circuits.length);
  const silent = (state?.endpoints ?? []).filter(isSilent).length;
  useEffect(() => {
    document.title = paused === 0 ? TITLE : `(${paused} paused) ${TITLE}`;
  }, [paused]);
  const modes = total((one) => one.modes.length);
  const troubled = total((one) => one.troubled.length);
  return (
    <header class="top">
      <h1>
        <img src="favicon.svg" alt="" width="24" height="24" /> Breakerbox console
      </h1>
      {state === undefined ? (
        <p class="muted">Asking the processes…</p>
      ) : (
        <ul class="badges">
          <Badge number={paused} one="session paused" many="sessions paused" tone="bad" />
          <Badge number={open} one="circuit not closed" many="circuits not closed" tone="warn" />
          <Badge number={modes} one="forced mode" many="forced modes" tone="forced" />
          <Badge number={silent} one="process does not answer" many="processes do not answer" tone="silent" />
          {agents.length > 0 && paused + open + troubled + modes + silent === 0 && (
            <li class="badge good">No session paused, all circuits closed</li>
          )}
        </ul>
      )}
      <p class={`live ${lost === undefined ? '' : 'bad'}`} role="status">
        {state !== undefined &&
          (lost === undefined ? 'Live' : `Not live, as of ${clockTime(state.unixMs)}: the console does not answer.`)}
      </p>
    </header>
  );
};

interface BadgeProps {
  readonly number: number;
  readonly one: string;
  readonly many: string;
  readonly tone: string;
}

export const Badge = ({ number, one, many, tone }: BadgeProps) =>
  number === 0 ? null : <li class={`badge ${tone}`}>{count(number, one, many)}</li>;
