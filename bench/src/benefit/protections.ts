import { createBreakerbox, type ErrorCategory, type ToolConfig } from '@breakerbox/core';
import type { SimulatedClock } from '../defaults/agent.ts';

/** What a protection says before a call. `go`: make it. Otherwise it is rejected, with what the model is told. */
export interface Answer {
  readonly go: boolean;
  /** The model is told to use this tool instead. */
  readonly alternative?: string | undefined;
  /** The model is told not to try again now. */
  readonly isFinal: boolean;
  /** The run stops, and a person is called. */
  readonly isPaused: boolean;
  /** Reports the result. `undefined`: success. */
  settle(category: ErrorCategory | undefined): void;
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

export interface ProtectionKind {
  readonly id: 'none' | 'naive' | 'breakerbox';
  readonly text: string;
  protect(clock: SimulatedClock, alternatives: Readonly<Record<string, string>>): Protection;
}

const GO: Answer = { go: true, isFinal: false, isPaused: false, settle: () => {} };

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
        const settle = (category: ErrorCategory | undefined): void => {
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
  protect: (clock, alternatives) => {
    const tools: Record<string, ToolConfig> = {};
    for (const [tool, alternative] of Object.entries(alternatives)) {
      tools[tool] = { alternatives: [{ tool: alternative, degradation: 'low' }] };
      tools[alternative] = {};
    }
    const box = createBreakerbox({ agent: 'benefit', clock, tools });
    const session = box.session();
    return {
      ask: (tool) => {
        session.declare(tool);
        const permit = session.acquire(tool);
        const { decision, route } = permit;
        return {
          go: decision === 'call' || decision === 'probe',
          alternative: route?.kind === 'alternative' ? route.tool : undefined,
          isFinal: decision === 'skip',
          isPaused: decision === 'pause',
          settle: (category) =>
            permit.settle(category === undefined ? { outcome: 'success' } : { outcome: outcomeOf(category), category }),
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

/** The model's own mistakes do not count (O1). */
const outcomeOf = (category: ErrorCategory) => (category === 'invalid_input' ? 'ignored' : 'failure');

export const PROTECTIONS: readonly ProtectionKind[] = [none, naive, breakerbox];
