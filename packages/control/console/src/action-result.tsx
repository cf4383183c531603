import type { ConsoleResult, EndpointResult } from '../../src/console/console-state.ts';
import type { AgentOverview } from './overview.ts';
import { currentWords, type Intent, stillPaused } from './plans.ts';
import { count } from './words.ts';

interface ActionResultProps {
  readonly intent: Intent;
  /** One for each session that was asked for. */
  readonly results: readonly ConsoleResult[];
  readonly agents: readonly AgentOverview[];
}

/** Where an action took effect (A8): never only "done". */
export const ActionResult = ({ intent, results, agents }: ActionResultProps) => {
  const all = results.flatMap((one) => one.results);
  const applied = results.reduce((sum, one) => sum + one.applied, 0);
  const stale = all.some(({ result }) => result === 'stale');
  const neverAnswered = Math.max(0, ...results.map((one) => one.neverAnswered));
  return (
    <>
      {stale && <Stale intent={intent} agents={agents} />}
      <p class={`notice ${tone(applied, all.length)}`}>{summary(results, applied, all.length)}</p>
      {all.some(({ result }) => result !== 'done' && result !== 'stale') && (
        <ul class="answers">
          {all
            .filter(({ result }) => result !== 'done' && result !== 'stale')
            .map((one, index) => (
              <li key={index}>
                <b>{one.pid === undefined ? one.endpoint : `Process ${one.pid}`}</b> {answer(one)}
              </li>
            ))}
        </ul>
      )}
      {!stale &&
        stillPaused(intent, agents).map((words) => (
          <p key={words} class="notice warn">
            {words}
          </p>
        ))}
      {neverAnswered > 0 && (
        <p class="muted">
          {count(neverAnswered, 'endpoint')} {neverAnswered === 1 ? 'has' : 'have'} not answered since the console
          started. This agent may run there too, and nothing was done there.
        </p>
      )}
    </>
  );
};

const tone = (applied: number, asked: number): string => {
  if (asked > 0 && applied === asked) return 'good';
  return applied > 0 ? 'warn' : 'bad';
};

const summary = (results: readonly ConsoleResult[], applied: number, asked: number): string => {
  if (asked === 0) return 'No known process has this agent and session now. Nothing was done.';
  if (results.length > 1)
    return `Asked ${results.length} sessions. Applied to ${applied} of ${results.length} sessions.`;
  return `Asked ${count(asked, 'process', 'processes')}. Applied by ${applied} of ${count(asked, 'process', 'processes')}.`;
};

const answer = ({ result, message }: EndpointResult): string =>
  result === 'silent' ? 'did not answer. If it received the request, it may still act later.' : message;

const Stale = ({ intent, agents }: { readonly intent: Intent; readonly agents: readonly AgentOverview[] }) => (
  <div class="notice warn">
    <b>
      {'sessions' in intent
        ? 'The session has changed since you saw it'
        : 'The forced modes have changed since you saw them'}
    </b>
    {currentWords(intent, agents).map((words) => (
      <p key={words}>{words}</p>
    ))}
    <p>Nothing was done there. Close this, look at the new state, and act again if you still want to.</p>
  </div>
);
