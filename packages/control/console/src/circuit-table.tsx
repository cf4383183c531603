import { usePlace } from './deep-link.ts';
import { ForceButtons } from './force-buttons.tsx';
import type { ToolCircuits } from './overview.ts';
import type { AgentProps } from './plans.ts';
import { duration, errorWord, probeWords, STATE_WORDS } from './words.ts';

/** The circuits of an agent that are not closed, in all sessions together. */
export const CircuitTable = ({ agent, act }: AgentProps) => (
  <section aria-label="Circuits that are not closed">
    <h3>Circuits that are not closed</h3>
    <table>
      <thead>
        <tr>
          <th>Tool</th>
          <th>State</th>
          <th>Last error</th>
          <th>Open for</th>
          <th>Next probe</th>
          <th>Sessions</th>
          {agent.canOperate && <th class="right">Actions</th>}
        </tr>
      </thead>
      <tbody>
        {agent.circuits.map((circuit) => (
          <CircuitRow key={`${circuit.tool} ${circuit.state}`} agent={agent} act={act} circuit={circuit} />
        ))}
      </tbody>
    </table>
  </section>
);

const CircuitRow = ({ agent, act, circuit }: AgentProps & { readonly circuit: ToolCircuits }) => {
  const { tool, state, category, openForMs, nextProbe, sessions } = circuit;
  const place = usePlace<HTMLTableRowElement>({ agent: agent.name, tool });
  return (
    <tr {...place}>
      <td data-label="Tool" class="name">
        {tool}
      </td>
      <td data-label="State">
        <span class={`chip ${state}`}>{STATE_WORDS[state]}</span>
      </td>
      <td data-label="Last error">{errorWord(category) ?? '–'}</td>
      <td data-label="Open for">{openForMs === undefined ? '–' : duration(openForMs)}</td>
      <td data-label="Next probe">{probeWords(nextProbe) ?? '–'}</td>
      <td data-label="Sessions">{sessions}</td>
      {agent.canOperate && (
        <td class="right">
          <ForceButtons agent={agent} tool={tool} act={act} />
        </td>
      )}
    </tr>
  );
};
