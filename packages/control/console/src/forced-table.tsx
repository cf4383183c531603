import { now } from './clock.ts';
import type { AgentProps } from './plans.ts';
import { duration, STATE_WORDS } from './words.ts';

/** The modes that operators force on tools of an agent. */
export const ForcedTable = ({ agent, act }: AgentProps) => (
  <section aria-label="Forced modes">
    <h3>Forced modes</h3>
    <table>
      <thead>
        <tr>
          <th>Tool</th>
          <th>Mode</th>
          <th>For</th>
          <th>Owner</th>
          <th>Reason</th>
          <th>Ends in</th>
          <th>Processes</th>
          {agent.canOperate && <th class="right">Actions</th>}
        </tr>
      </thead>
      <tbody>
        {agent.modes.map((mode) => (
          <tr key={JSON.stringify([mode.tool, mode.mode, mode.owner, mode.session, mode.reason])}>
            <td data-label="Tool" class="name">
              {mode.tool}
            </td>
            <td data-label="Mode">
              <span class={`chip ${mode.mode}`}>{STATE_WORDS[mode.mode]}</span>
            </td>
            <td data-label="For">{mode.session === undefined ? 'all sessions' : `session ${mode.session}`}</td>
            <td data-label="Owner">{mode.owner}</td>
            <td data-label="Reason">{mode.reason}</td>
            <td data-label="Ends in">{duration(mode.untilUnixMs - now())}</td>
            <td data-label="Processes">
              {mode.processes} of {agent.processes.length}
            </td>
            {agent.canOperate && (
              <td class="right">
                <button
                  type="button"
                  class="release"
                  aria-label={`Release ${mode.tool} of ${mode.owner}`}
                  onClick={() => act({ kind: 'release', agent, mode })}
                >
                  Release
                </button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
