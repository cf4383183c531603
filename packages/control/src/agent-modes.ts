import type { ForceOptions } from '@breakerbox/core/control';
import { isModelCircuit } from '@breakerbox/core/internal';
import type { OperatedBox } from './state.ts';

type Options = Pick<ForceOptions, 'mode' | 'owner' | 'reason'> & { readonly expiresInMs: number };

interface AgentMode extends Omit<Options, 'expiresInMs'> {
  readonly agent: string;
  readonly tool: string;
  readonly untilMs: number;
}

/** Modes for all sessions of an agent, kept for the boxes that it makes later: some programs make one for each request. */
export interface AgentModes {
  forced(agent: string, tool: string, options: Options): void;
  /** Whether there was such a mode. */
  released(agent: string, tool: string, owner: string): boolean;
  /** Who has forced such a mode. */
  ownersOf(agent: string, tool: string): readonly string[];
  /** Forces on a new box what is in force for its agent. */
  applyTo(one: OperatedBox): void;
}

/** No modes yet. */
export const createAgentModes = (now = () => performance.now()): AgentModes => {
  let kept: readonly AgentMode[] = [];
  const drop = (agent: string, tool: string, owner: string): boolean => {
    const left = kept.filter((one) => one.agent !== agent || one.tool !== tool || one.owner !== owner);
    const isDropped = left.length < kept.length;
    kept = left;
    return isDropped;
  };
  return {
    forced: (agent, tool, { expiresInMs, ...options }) => {
      drop(agent, tool, options.owner);
      kept = [...kept, { ...options, agent, tool, untilMs: now() + expiresInMs }];
    },
    released: drop,
    ownersOf: (agent, tool) => kept.filter((one) => one.agent === agent && one.tool === tool).map(({ owner }) => owner),
    applyTo: ({ box, operator }) => {
      const ms = now();
      kept = kept.filter(({ untilMs }) => untilMs > ms);
      for (const { agent, tool, untilMs, ...options } of kept)
        if (agent === box.agent && (operator.scope !== 'none' || isModelCircuit(tool)))
          operator.force(tool, { ...options, expiresInMs: untilMs - ms, isCounted: false, isDeclared: false });
    },
  };
};
