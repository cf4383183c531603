import { beginTurn } from '@breakerbox/core/internal';
import { agentFinder, type SessionSource } from '../acquire.ts';
import { checkOptions, flag } from '../options.ts';
import { inTurn } from '../running-calls.ts';
import { noteBlock } from '../system-note.ts';
import { checkVersion } from '../versions.ts';

/** Options of {@link breakerSteps}. */
export interface BreakerStepsOptions {
  /**
   * Whether the model is told, at the end of the agent's instructions, which tools are unavailable and what to use instead.
   * The instructions then change with the health of tools, which misses the provider's prompt cache. Default: false, because rejections
   * tell the model the same.
   */
  readonly note?: boolean;
}

/** The type of `callModelInputFilter`, for all versions of the SDK. */
export interface ModelInputFilter {
  <Data extends ModelInput>(turn: { readonly modelData: Data }): Data;
  /** Tells the SDK that the input needs no copy, because it is not changed here. */
  readonly preserveInputIdentity: true;
}

interface ModelInput {
  instructions?: string;
}

/**
 * Counts the turns of an agent's loop as steps of the session, for the OpenAI Agents SDK. A step begins each time before the model is
 * called, streaming or not, for every agent that a run hands over to. The input goes to the model unchanged. An agent that
 * runs in a guarded tool, with the same session, is a sub-agent with a session of its own beneath that one (D1).
 *
 * If you have your own `callModelInputFilter`, call `session.step()` in it instead.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or the framework is too old.
 *
 * @example
 * ```ts
 * await run(agent, 'Find the news', { callModelInputFilter: breakerSteps(session) });
 * ```
 */
export function breakerSteps(session: SessionSource, options: BreakerStepsOptions = {}): ModelInputFilter {
  checkOptions('breakerSteps()', options, { note: flag });
  checkVersion('@openai/agents', 'breakerSteps() of @breakerbox/instrumentation/openai-agents');
  const findSession = agentFinder(session, 'breakerSteps()');
  const filter = <Data extends ModelInput>({ modelData }: { readonly modelData: Data }): Data => {
    // E5: the SDK ends the run for an error of a filter. If there is no session, the tools report it too.
    const note = inTurn('breakerSteps()', () => {
      const current = findSession();
      beginTurn(current);
      return options.note ? noteBlock(current.note()) : '';
    });
    if (!note) return modelData;
    return { ...modelData, instructions: [modelData.instructions, note].filter(Boolean).join('\n\n') };
  };
  return Object.assign(filter, { preserveInputIdentity: true as const });
}
