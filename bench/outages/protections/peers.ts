import {
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleAll,
  type IPolicy,
  retry,
  wrap,
} from 'cockatiel';
import CircuitBreaker from 'opossum';
import { ALTERNATIVES, type Arguments } from '../airline/tools.ts';
import { CALL_TIMEOUT_MS } from '../world/client.ts';
import type { AskModel, CallTool, Protection, TurnOf } from './protection.ts';

export const NONE: Protection = {
  id: 'none',
  text: 'none',
  begin: () => ({ guard: (_, call) => ({ call }), end: async () => {} }),
};

export const FRAMEWORK: Protection = {
  id: 'framework',
  text: "the framework's own",
  begin: () => ({ guard: (_, call) => ({ call, own: true }), end: async () => {} }),
};

/** Around each request to the model. */
const ofModels = (id: string, text: string, make: () => { readonly ask: AskModel; shutdown?(): void }): Protection => ({
  id,
  text,
  begin: () => {
    const { ask, shutdown } = make();
    return { guard: (_, call) => ({ call, ask }), end: async () => shutdown?.() };
  },
});

export const SECOND_MODEL = ofModels('second-model', 'try/catch with a second model', () => ({
  ask: (turnOf) => turnOf('first').catch(() => turnOf('second')),
}));

/** One circuit for each tool, made when it is first called. */
const perTool = <Circuit>(make: (tool: string) => Circuit) => {
  const circuits = new Map<string, Circuit>();
  return {
    of: (tool: string): Circuit => {
      const circuit = circuits.get(tool) ?? make(tool);
      circuits.set(tool, circuit);
      return circuit;
    },
    all: () => circuits.values(),
  };
};

/** The options of the first example in opossum's README. */
const OPOSSUM_OPTIONS = { timeout: 3_000, errorThresholdPercentage: 50, resetTimeout: 30_000 };

/** `fallsBack`: its documented fallback calls the alternative, after each failure and while the circuit is open. */
const opossum = (id: string, text: string, fallsBack: boolean): Protection => ({
  id,
  text,
  begin: () => {
    let callTool: CallTool;
    const circuits = perTool((tool) => {
      const action = (given: Arguments, signal?: AbortSignal): Promise<string> => callTool(tool, given, signal);
      const circuit = new CircuitBreaker(action, { name: tool, ...OPOSSUM_OPTIONS });
      const other = fallsBack ? ALTERNATIVES[tool] : undefined;
      return other === undefined ? circuit : circuit.fallback((given, signal) => callTool(other, given, signal));
    });
    return {
      guard: (_, call) => {
        callTool = call;
        return { call: (tool, given, signal) => circuits.of(tool).fire(given, signal) };
      },
      end: async () => {
        for (const circuit of circuits.all()) circuit.shutdown();
      },
    };
  },
});

/** With a longer time-out than its README has, because each turn takes more than 3 s. */
export const OPOSSUM_MODELS = ofModels('opossum-models', 'opossum, a second model as its fallback', () => {
  const turn = (turnOf: TurnOf<unknown>): Promise<unknown> => turnOf('first');
  const circuit = new CircuitBreaker(turn, { ...OPOSSUM_OPTIONS, timeout: CALL_TIMEOUT_MS });
  circuit.fallback((turnOf: TurnOf<unknown>) => turnOf('second'));
  return {
    ask: <Turn>(turnOf: TurnOf<Turn>) => circuit.fire(turnOf) as Promise<Turn>,
    shutdown: () => circuit.shutdown(),
  };
});

export const OPOSSUM = opossum('opossum', 'opossum', false);
export const OPOSSUM_FALLBACK = opossum('opossum-fallback', 'opossum with a fallback', true);

/** The first example in cockatiel's README. */
const cockatielPolicy = (): IPolicy =>
  wrap(
    retry(handleAll, { maxAttempts: 3, backoff: new ExponentialBackoff() }),
    circuitBreaker(handleAll, { halfOpenAfter: 10_000, breaker: new ConsecutiveBreaker(5) }),
  );

export const COCKATIEL: Protection = {
  id: 'cockatiel',
  text: 'cockatiel',
  begin: () => {
    const policies = perTool(cockatielPolicy);
    return {
      guard: (_, call) => ({
        call: (tool, given, signal) => policies.of(tool).execute(() => call(tool, given, signal), signal),
      }),
      end: async () => {},
    };
  },
};
