import { createBreakerbox, type ErrorCategory, type Permit, type ToolConfig } from '@breakerbox/core';
import type { SimulatedClock } from '../defaults/agent.ts';

/** What the model reads besides an error: not to call the tool again now, and perhaps what to use instead. */
export interface Advice {
  /** The model is told to use this tool instead. */
  readonly alternative: string | undefined;
  /** The model is told to call no more tools: the run stops, and a person is called. */
  readonly stops: boolean;
}

/** What a protection says before a call. `go`: make it. Otherwise it is rejected. */
export interface Answer {
  readonly go: boolean;
  /** What the model is told with a rejection; undefined if that is one more error for it. */
  readonly advice?: Advice | undefined;
  /** Reports the result, and returns what the model is told with it. `undefined`: success. */
  settle(category: ErrorCategory | undefined): Advice | undefined;
}

/** Protects the calls of one run. */
export interface Protection {
  ask(tool: string): Answer;
  /** A turn of the model is over. */
  step(): void;
  /** A person lets a paused run go on. */
  resume(): void;
  end(): void;
}

/** What the configuration says about the tools. */
export interface Known {
  readonly alternatives: Readonly<Record<string, string>>;
  /** The tools that depend on something, by its name. */
  readonly dependencies: Readonly<Record<string, readonly string[]>>;
}

export interface ProtectionKind {
  readonly id: 'none' | 'naive' | 'breakerbox';
  readonly text: string;
  protect(clock: SimulatedClock, known: Known): Protection;
}

const GO: Answer = { go: true, settle: () => undefined };

const none: ProtectionKind = {
  id: 'none',
  text: 'no protection',
  protect: () => ({ ask: () => GO, step: () => {}, resume: () => {}, end: () => {} }),
};

const NAIVE_THRESHOLD = 3;
const NAIVE_COOLDOWN_MS = 60_000;

/**
 * What is quickly written around a tool: 3 errors of any kind in a row open it, one call after a minute decides, and a rejection is one
 * more error for the model.
 */
const naive: ProtectionKind = {
  id: 'naive',
  text: 'a breaker per tool that counts every error, and rejects with "circuit open"',
  protect: (clock) => {
    const circuits = new Map<string, { failures: number; openedMs: number | undefined }>();
    const circuitOf = (tool: string) => {
      const known = circuits.get(tool) ?? { failures: 0, openedMs: undefined };
      circuits.set(tool, known);
      return known;
    };
    return {
      ask: (tool) => {
        const circuit = circuitOf(tool);
        const isOpen = circuit.openedMs !== undefined && clock.now() - circuit.openedMs < NAIVE_COOLDOWN_MS;
        if (isOpen) return { ...GO, go: false };
        const settle = (category: ErrorCategory | undefined): undefined => {
          circuit.failures = category === undefined ? 0 : circuit.failures + 1;
          circuit.openedMs = circuit.failures >= NAIVE_THRESHOLD ? clock.now() : undefined;
        };
        return { ...GO, settle };
      },
      step: () => {},
      resume: () => {},
      end: () => {},
    };
  },
};

const breakerbox: ProtectionKind = {
  id: 'breakerbox',
  text: 'Breakerbox with its defaults and one alternative in the capability map',
  protect: (clock, known) => {
    const box = createBreakerbox({ agent: 'benefit', clock, tools: toolsOf(known) });
    const session = box.session();
    const adviceIn = ({ tool, message, route }: Permit): Advice | undefined =>
      message === ''
        ? undefined
        : {
            alternative: route?.kind === 'alternative' ? route.tool : undefined,
            stops: session.explain(tool).decision === 'pause',
          };
    return {
      ask: (tool) => {
        session.declare(tool);
        const permit = session.acquire(tool);
        return {
          go: permit.decision === 'call' || permit.decision === 'probe',
          // R3: in place of a result.
          advice: adviceIn(permit),
          settle: (category) => {
            permit.settle(category === undefined ? { outcome: 'success' } : { outcome: outcomeOf(category), category });
            // R5: after the error of a call that left its tool unavailable.
            return adviceIn(permit);
          },
        };
      },
      step: () => session.step(),
      resume: () => {
        session.confirmRecovered();
        session.resume();
      },
      end: () => session.end(),
    };
  },
};

const toolsOf = ({ alternatives, dependencies }: Known): Readonly<Record<string, ToolConfig>> => {
  const tools: Record<string, ToolConfig> = {};
  for (const [tool, alternative] of Object.entries(alternatives)) {
    tools[tool] = { alternatives: [{ tool: alternative, degradation: 'low' }] };
    tools[alternative] = {};
  }
  for (const [dependency, dependents] of Object.entries(dependencies)) {
    for (const tool of dependents) tools[tool] = { ...tools[tool], dependsOn: [dependency] };
  }
  return tools;
};

/** The model's own mistakes do not count (O1). */
const outcomeOf = (category: ErrorCategory) => (category === 'invalid_input' ? 'ignored' : 'failure');

export const PROTECTIONS: readonly ProtectionKind[] = [none, naive, breakerbox];
