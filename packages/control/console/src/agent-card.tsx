import { CircuitTable } from './circuit-table.tsx';
import { now } from './clock.ts';
import { usePlace } from './deep-link.ts';
import { ForcedTable } from './forced-table.tsx';
import { type AgentOverview, isOfModels } from './overview.ts';
import { PausedGroup } from './paused-group.tsx';
import type { AgentProps } from './plans.ts';
import { SessionGroup } from './session-group.tsx';
import { Badge } from './summary.tsx';
import { Timeline } from './timeline.tsx';
import { ToolList } from './tool-list.tsx';
import { count, duration, processName } from './words.ts';

/** All processes of one agent name. */
export const AgentCard = ({ agent, act }: AgentProps) => {
  const { name, processes, silent, paused, troubled, quiet, leftOut, circuits, modes, changes } = agent;
  const place = usePlace<HTMLElement>({ agent: name });
  const active = [...troubled, ...quiet].filter((one) => !isOfModels(one)).length + leftOut;
  return (
    <section class="agent" aria-label={`Agent ${name}`} {...place}>
      <header>
        <h2>{name}</h2>
        <p class="muted">
          {count(processes.length, 'process', 'processes')}, {count(paused.length + active, 'session')}
        </p>
        <ul class="badges">
          <Badge number={paused.length} one="paused" many="paused" tone="bad" />
          {paused.length + circuits.length + modes.length + silent.length + troubled.length === 0 && (
            <li class="badge good">All circuits closed</li>
          )}
          {!agent.canOperate && <li class="badge silent">View only</li>}
        </ul>
      </header>
      <SilentProcesses agent={agent} />
      <PausedGroup agent={agent} act={act} />
      {circuits.length > 0 && <CircuitTable agent={agent} act={act} />}
      {modes.length > 0 && <ForcedTable agent={agent} act={act} />}
      <SessionGroup
        title="Active sessions with circuits that are not closed, or limits nearly used up"
        sessions={troubled}
        act={act}
        isOpen={troubled.length <= 10}
      />
      <SessionGroup title="Other active sessions" sessions={quiet} act={act} isOpen={false} leftOut={leftOut} />
      <UncountedTools agent={agent} />
      <ToolList agent={agent} act={act} />
      <Timeline changes={changes} />
    </section>
  );
};

/** Tools that a person could see are broken, though no circuit counts their errors. */
const UncountedTools = ({ agent: { uncounted } }: { readonly agent: AgentOverview }) =>
  uncounted.length === 0 ? null : (
    <ul class="notice uncounted" aria-label="Tools whose errors do not count">
      {uncounted.map(({ tool, errors, calls }) => (
        <li key={tool}>
          <span class="name">{tool}</span>: {errors} of {count(calls, 'call')} came back with an error that is not
          counted.
        </li>
      ))}
    </ul>
  );

const SilentProcesses = ({ agent: { silent, processes } }: { readonly agent: AgentOverview }) =>
  silent.length === 0 ? null : (
    <div class="notice silent">
      <b>
        {silent.length} of {count(processes.length, 'process', 'processes')} {silent.length === 1 ? 'does' : 'do'} not
        answer.
      </b>{' '}
      This page shows {silent.length === 1 ? 'its last answer' : 'their last answers'}:{' '}
      {silent.map(({ id, state, answeredUnixMs }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          {processName({ id, state })}
          {answeredUnixMs !== undefined && ` (${duration(now() - answeredUnixMs)} ago)`}
        </span>
      ))}
    </div>
  );
