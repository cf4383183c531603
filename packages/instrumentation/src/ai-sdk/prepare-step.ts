import type { Session } from '@breakerbox/core';
import { beginTurn, isObject } from '@breakerbox/core/internal';
import type { PrepareStepFunction, Tool } from 'ai';
import { agentFinder, type SessionSource } from '../acquire.ts';
import { guardedBy, markGuarded } from '../guard-mark.ts';
import { isLastTurn } from '../last-turn.ts';
import { checkOptions, flag, functionGiven, type OptionCheck } from '../options.ts';
import { inTurn } from '../running-calls.ts';
import { spendStep } from '../spend-answer.ts';
import { type Instructions, steadyNote, withNote, withoutNote } from '../system-note.ts';
import { checkVersion } from '../versions.ts';
import { areTurnsCounted } from './agent-runs.ts';
import { beginRun } from './own-limit.ts';
import { withoutCalls } from './without-calls.ts';

/** The arguments of a call of `generateText`, `streamText` or an agent. The AI SDK does not pass them to `prepareStep`. */
export interface CallTools<Name extends string = string> {
  readonly tools: Readonly<Record<Name, object>>;
  /** `activeTools` of the call, if it has them. */
  readonly activeTools?: readonly NoInfer<Name>[] | undefined;
  /** `toolChoice` of the call, if it has one. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly type: 'tool'; readonly toolName: NoInfer<Name> };
}

/** Options of {@link breakerPrepareStep}. */
export interface BreakerPrepareStepOptions<Name extends string = string> {
  /** Whether the system prompt says which tools are unavailable. Default: true. */
  readonly note?: boolean;
  /**
   * Hides unavailable tools from the model. Give the settings of the call. It never hides a tool that is due for a probe, the tool
   * that `toolChoice` names, or all tools. Tool definitions come first in prompt caches, so each change costs the whole cache.
   * Default: hides none.
   */
  readonly hide?: CallTools<Name>;
}

/** A `prepareStep` for any call whose tools have these names. */
export type BreakerPrepareStep<Name extends string = never> = (step: {
  readonly stepNumber: number;
}) => Promise<{ instructions?: Instructions; activeTools?: Name[]; toolChoice?: 'none' }>;

/** The step in the AI SDK 6 and 7. Version 6 does not give the instructions. */
interface Step {
  readonly stepNumber?: number;
  readonly model?: unknown;
  readonly instructions?: Instructions | undefined;
  readonly initialInstructions?: unknown;
  readonly messages?: Messages | undefined;
  readonly steps?: readonly unknown[] | undefined;
}

type Messages = readonly { readonly role: string }[];

/** The part of the result of your own `prepareStep` that is read here. */
interface Prepared {
  readonly instructions?: Instructions | undefined;
  readonly system?: Instructions | undefined;
  readonly messages?: Messages | undefined;
  readonly activeTools?: readonly string[] | undefined;
  readonly toolChoice?: CallTools['toolChoice'];
  readonly model?: unknown;
}

/**
 * The `prepareStep` of a guarded run. It counts the turns of the model, which probes wait for. It tells the model in the system
 * prompt which tools are unavailable and what to use instead. It hides those tools if you set `hide`. Once the model has read that
 * the run is paused, it answers without tools, which ends the run (D6), unless your own `prepareStep` sets `toolChoice`. Tool calls in that answer are left out.
 *
 * The note comes after your own system prompt, and its words stay the same while the same tools are unavailable. Without an
 * unavailable tool your prompt is unchanged, so a cached prefix stays valid until the note changes. AI SDK 6 does not give the
 * system prompt, so there the note needs a `prepareStep` of yours that returns `system`. There is no note if `messages` contain
 * system messages: the note would come before them and make the prompt cache after it useless.
 *
 * Where `breakerTelemetry` follows a run of the session, that one counts the turns. Otherwise each run with this function counts
 * them. An agent in a guarded tool, with the same session, is a sub-agent: its turns and calls count in a session of its own beneath that one
 * (D1). If a session function finds no session, no turn is counted and there is no note; the error goes to OpenTelemetry's `diag`.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, or the framework is too old.
 *
 * @example
 * ```ts
 * await generateText({ model, tools: guardTools(tools, session), prepareStep: breakerPrepareStep(session), prompt });
 * ```
 */
export function breakerPrepareStep<Name extends string = never>(
  session: SessionSource,
  options?: BreakerPrepareStepOptions<Name>,
): BreakerPrepareStep<Name>;
/**
 * The same with your own `prepareStep`, which gets the system prompt without the note. Its settings stay.
 *
 * @example
 * ```ts
 * const own: PrepareStepFunction<typeof tools> = ({ stepNumber }) => (stepNumber === 0 ? { toolChoice: 'required' } : {});
 * await generateText({ model, tools, prepareStep: breakerPrepareStep(session, { prepareStep: own }), prompt });
 * ```
 */
export function breakerPrepareStep<Tools extends Record<string, Tool>>(
  session: SessionSource,
  options: BreakerPrepareStepOptions & { readonly prepareStep: PrepareStepFunction<Tools> },
): PrepareStepFunction<Tools>;
export function breakerPrepareStep(
  session: SessionSource,
  options: BreakerPrepareStepOptions & { readonly prepareStep?: (step: never) => unknown } = {},
): (step: never) => unknown {
  checkOptions('breakerPrepareStep()', options, { note: flag, hide: callTools, prepareStep: functionGiven });
  checkVersion('ai', 'breakerPrepareStep() of @breakerbox/instrumentation/ai-sdk');
  const findSession = agentFinder(session, 'breakerPrepareStep()');
  const { note = true, hide } = options;
  const prepareStep = options.prepareStep as OwnPrepareStep | undefined;
  const prepared = async (step: Step): Promise<Prepared | undefined> => {
    // E5: the SDK ends the run for an error thrown here. If there is no session, the tools report it too.
    const current = inTurn('breakerPrepareStep()', findSession);
    if (current === undefined) return prepareStep?.(step);
    if (step.stepNumber === 0) beginRun(current);
    if (!areTurnsCounted(current)) {
      if (guardedBy(prepareStep) !== session) beginTurn(current);
      for (const one of step.steps ?? []) spendStep(current, one);
    }
    const plain = withoutNote(step.instructions, current);
    const own = await prepareStep?.(plain.noted ? { ...step, instructions: plain.instructions } : step);
    // A note before these messages would make the prompt cache after it useless.
    const isWithin = (own?.messages ?? step.messages)?.some(({ role }) => role === 'system');
    return {
      ...own,
      ...(isLastTurn(current) && own?.toolChoice === undefined && lastTurn(own?.model ?? step.model)),
      ...instructed(step, plain, own, current, note && !isWithin ? steadyNote(current) : ''),
      ...(hide && visible(current, hide, own)),
    };
  };
  return markGuarded(prepared, session);
}

/**
 * An `onStepEnd` (`onStepFinish` in AI SDK 5 and 6) that counts what the model has used for the limits of the run (D3). `breakerPrepareStep`
 * counts every step before the next one, so only the last answer of a run needs this. A guarded model (`guardModels`) and `breakerTelemetry`
 * count by themselves. Nothing is counted twice.
 *
 * @throws BreakerboxUsageError when `session` is not a session.
 *
 * @example
 * ```ts
 * await generateText({ model, tools, prepareStep: breakerPrepareStep(session), onStepEnd: breakerStepEnd(session), prompt });
 * ```
 */
export const breakerStepEnd = (session: SessionSource): ((step: object) => void) => {
  const findSession = agentFinder(session, 'breakerStepEnd()');
  return (step) => {
    const current = inTurn('breakerStepEnd()', findSession);
    if (current !== undefined && !areTurnsCounted(current)) spendStep(current, step);
  };
};

const lastTurn = (model: unknown): Prepared => ({
  toolChoice: 'none',
  ...(isObject(model) && { model: withoutCalls(model) }),
});

type OwnPrepareStep = (step: Step) => PromiseLike<Prepared | undefined> | Prepared | undefined;

const instructed = (
  step: Step,
  plain: ReturnType<typeof withoutNote>,
  own: Prepared | undefined,
  session: Session,
  note: string,
): Pick<Prepared, 'instructions' | 'system'> => {
  // The SDK passes the instructions of this step to the next, so an outdated note has to be removed.
  if (note === '' && !plain.noted) return {};
  const prepared = own?.instructions ?? own?.system;
  const whole = withNote(
    prepared === undefined ? plain.instructions : withoutNote(prepared, session).instructions,
    note,
  );
  if ('initialInstructions' in step) return { instructions: whole };
  return prepared === undefined ? {} : { system: whole };
};

const visible = (
  session: Session,
  { tools, activeTools, toolChoice }: CallTools,
  own: Prepared | undefined,
): Pick<Prepared, 'activeTools'> => {
  const out = new Set(session.unavailable());
  const chosen = own?.toolChoice ?? toolChoice;
  const named = typeof chosen === 'object' ? chosen.toolName : undefined;
  const active = (own?.activeTools ?? activeTools ?? Object.keys(tools)).filter((name) => Object.hasOwn(tools, name));
  const left = active.filter((name) => name === named || !out.has(name));
  // Providers reject a tool choice without tools, and some reject a conversation with tool calls but no tools.
  return left.length === active.length || left.length === 0 ? {} : { activeTools: left };
};

const callTools: OptionCheck = (value) => {
  const tools = typeof value === 'object' && value !== null ? (value as { tools?: unknown }).tools : undefined;
  return typeof tools === 'object' && tools !== null
    ? undefined
    : `has no tools, and the AI SDK does not report which tools exist. Set { tools }, with activeTools and toolChoice if your call has them, or leave this option out.`;
};
