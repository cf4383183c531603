import { labelled } from '@breakerbox/core';
import { hookedCalls, withAdvice } from '@breakerbox/instrumentation';
import { type Call, runLoop, scriptedModel } from '@breakerbox/scripted-models/plain';
import { contract } from './contract.ts';
import type { AgentRun, Harness } from './harness.ts';
import { lastPiece, reply } from './own-loop.ts';

/** The hooks of a framework. */
interface Hooks {
  /** An answer replaces the call. */
  before(call: Call): string | undefined;
  after(call: Call, result: unknown): unknown;
  failed(call: Call, error: unknown): unknown;
  denied(call: Call): void;
}

type Limits = Pick<AgentRun, 'frameworkTimeoutMs' | 'signal'>;

/** Rejects when the caller aborts or the time is over, even if the tool ignores it. */
const stopped = ({ frameworkTimeoutMs, signal }: Limits): { signal: AbortSignal; promise: Promise<never> } => {
  const time = frameworkTimeoutMs === undefined ? [] : [AbortSignal.timeout(frameworkTimeoutMs)];
  const either = AbortSignal.any([...(signal ? [signal] : []), ...time]);
  const promise = new Promise<never>((_, reject) => {
    either.addEventListener('abort', () => reject(either.reason), { once: true });
  });
  return { signal: either, promise };
};

/** A small framework with hooks. It runs tools itself, outside of all hooks. */
const withHooks = ({ tools, deny = [], frameworkTimeoutMs, signal }: AgentRun, hooks: Hooks) => {
  const run = async (call: Call): Promise<unknown> => {
    const limit = stopped({ ...(frameworkTimeoutMs && { frameworkTimeoutMs }), ...(signal && { signal }) });
    try {
      const body = async () => lastPiece(await tools[call.tool]?.(call.input as { q: string }, limit.signal));
      return hooks.after(call, await Promise.race([body(), limit.promise]));
    } catch (error) {
      throw hooks.failed(call, error);
    }
  };
  return async (call: Call): Promise<string> => {
    if (tools[call.tool] === undefined) return `There is no tool '${call.tool}'.`;
    if (typeof (call.input as { q?: unknown }).q !== 'string') return 'Invalid input: q is not a string.';
    const answer = hooks.before(call);
    if (answer !== undefined) return answer;
    if (!deny.includes(call.tool)) return reply(() => run(call), signal);
    hooks.denied(call);
    return 'The user denied this call.';
  };
};

const harness: Harness = {
  framework: 'hooks before and after calls, with hookedCalls',
  run: async (agent) => {
    const { session, script, servers, judging } = agent;
    const { model, heard } = scriptedModel(script);
    const calls = hookedCalls(session, judging);
    const callTool = withHooks(agent, {
      before: ({ id, tool, input }) => {
        const permit = calls.acquire({ callId: id, tool, input, group: servers?.[tool] });
        if (permit.decision === 'call' || permit.decision === 'probe') return undefined;
        const { route } = permit;
        return route?.kind === 'stale' ? `${labelled(route.result, route.label)}` : permit.message;
      },
      after: ({ id }, result) => withAdvice(result, calls.settle(id, { result })?.message ?? ''),
      failed: ({ id }, error) => withAdvice(error, calls.settle(id, { error })?.message ?? ''),
      denied: ({ id }) => calls.settle(id, { outcome: 'ignored', category: 'denied' }),
    });
    try {
      const endTurn = () => (typeof session === 'function' ? session() : session).step();
      return { text: await runLoop(model, 'Go.', callTool, endTurn), heard: heard() };
    } finally {
      calls.abandon();
    }
  },
  lastTurnUntold: true,
  inBand: (error) => ({ error }),
  lacks: {
    inPlace: 'Hooks cannot call another tool.',
    note: 'They change no result. Give the model `permit.note` beside it.',
    timeoutMs: "Hooks don't run the tool, so we cannot end it. The framework's own time-out applies.",
    toolSpansBeneath: "A hook before the call can't make the tool run in a context.",
    nativeSpan: 'It depends on the framework.',
  },
};

contract(harness);
