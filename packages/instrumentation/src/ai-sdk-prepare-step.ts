import type { Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import type { PrepareStepFunction, Tool } from 'ai';
import { areTurnsCounted } from './ai-sdk-runs.ts';
import { guardedBy, markGuarded } from './guarded.ts';
import { checkOptions, flag, type OptionCheck, reader } from './options.ts';
import { type SessionSource, sessionFinder } from './session-source.ts';
import { type Instructions, steadyNote, withNote, withoutNote } from './system-note.ts';
import { checkVersion } from './versions.ts';

/** What a call of `generateText`, `streamText` or an agent was given: the AI SDK doesn't tell it to `prepareStep`. */
export interface CallTools<Name extends string = string> {
  readonly tools: Readonly<Record<Name, object>>;
  /** Where the call has it. */
  readonly activeTools?: readonly NoInfer<Name>[] | undefined;
  /** Where the call has it. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly type: 'tool'; readonly toolName: NoInfer<Name> };
}

/** How steps are prepared. */
export interface BreakerPrepareStepOptions<Name extends string = string> {
  /** Whether the system prompt says what is out. Default: true. */
  readonly note?: boolean;
  /**
   * Hides tools that are out from the model; give the settings of the call. Never a tool that is due for a probe, nor the one
   * that `toolChoice` names, nor all of them. Tool definitions come first in prompt caches: each change costs the whole cache.
   * Default: hides none.
   */
  readonly hide?: CallTools<Name>;
}

/** Fits any call whose tools have these names. */
export type BreakerPrepareStep<Name extends string = never> = (step: {
  readonly stepNumber: number;
}) => Promise<{ instructions?: Instructions; activeTools?: Name[] }>;

/** What is known of a step in the AI SDK 6 and 7; 6 doesn't tell the instructions. */
interface Step {
  readonly instructions?: Instructions | undefined;
  readonly initialInstructions?: unknown;
  readonly messages?: Messages | undefined;
}

type Messages = readonly { readonly role: string }[];

/** What one's own `prepareStep` may have said that matters here. */
interface Prepared {
  readonly instructions?: Instructions | undefined;
  readonly system?: Instructions | undefined;
  readonly messages?: Messages | undefined;
  readonly activeTools?: readonly string[] | undefined;
  readonly toolChoice?: CallTools['toolChoice'];
}

/**
 * The `prepareStep` of a guarded run: counts the turns of the model, which probes wait for; tells the model in the system prompt
 * which tools are out and what to use instead; and hides those tools, if asked to.
 *
 * The note stands behind your own system prompt, and the same words stay while the same tools are out: as long as nothing is
 * out the prompt is yours to the byte, and a cached prefix holds until something changes. On AI SDK 6, which tells nobody the
 * system prompt, there is a note only where your own `prepareStep` gives `system`. There is none where system messages stand
 * within `messages`: it would come before them, and cost what a prompt cache holds of them.
 *
 * Where `breakerTelemetry` follows a run of the session, that one counts the turns. Else each run with this counts: of agents that
 * run within tools of one another, in one session, give it to the outermost alone. Where a session function finds none, nothing is
 * counted or said, and OpenTelemetry's `diag` is told.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError when `session` is no session, or the framework is too old.
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
 * The same with your own `prepareStep`: it gets the system prompt without the note, and its settings stay.
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
  checkOptions('breakerPrepareStep()', options, { note: flag, hide: callTools, prepareStep: reader });
  checkVersion('ai', 'breakerPrepareStep() of @breakerbox/instrumentation/ai-sdk');
  const findSession = sessionFinder(session, 'breakerPrepareStep()');
  const { note = true, hide } = options;
  const prepareStep = options.prepareStep as OwnPrepareStep | undefined;
  const prepared = async (step: Step): Promise<Prepared | undefined> => {
    // E5: the SDK ends the run for what is thrown here. Where there is no session, the tools say so too.
    const current = safely('breakerPrepareStep()', findSession);
    if (current === undefined) return prepareStep?.(step);
    if (!areTurnsCounted(current) && guardedBy(prepareStep) !== session) current.step();
    const plain = withoutNote(step.instructions, current);
    const own = await prepareStep?.(plain.noted ? { ...step, instructions: plain.instructions } : step);
    // A note before these would cost what a prompt cache holds of them.
    const isWithin = (own?.messages ?? step.messages)?.some(({ role }) => role === 'system');
    return {
      ...own,
      ...instructed(step, plain, own, current, note && !isWithin ? steadyNote(current) : ''),
      ...(hide && visible(current, hide, own)),
    };
  };
  return markGuarded(prepared, session);
}

type OwnPrepareStep = (step: Step) => PromiseLike<Prepared | undefined> | Prepared | undefined;

const instructed = (
  step: Step,
  plain: ReturnType<typeof withoutNote>,
  own: Prepared | undefined,
  session: Session,
  note: string,
): Pick<Prepared, 'instructions' | 'system'> => {
  // The SDK hands on to the next step what was said in this one: a note that is over has to be taken back.
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
  // Providers refuse a choice among no tools, and some a conversation with tool calls and no tools.
  return left.length === active.length || left.length === 0 ? {} : { activeTools: left };
};

const callTools: OptionCheck = (value) => {
  const tools = typeof value === 'object' && value !== null ? (value as { tools?: unknown }).tools : undefined;
  return typeof tools === 'object' && tools !== null
    ? undefined
    : `holds no tools, and the AI SDK doesn't tell which there are. Set { tools }, with the call's activeTools and toolChoice, or leave it out.`;
};
