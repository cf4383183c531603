import { HABITS, type Habit, USUAL_HABIT } from '../agent/habits.ts';
import { aiSdkLoop } from '../frameworks/ai-sdk.ts';
import { langChainLoop } from '../frameworks/langchain.ts';
import type { Loop } from '../frameworks/loop.ts';
import { mcpRelayLoop } from '../frameworks/mcp-relay.ts';
import { openAiAgentsLoop } from '../frameworks/openai-agents.ts';
import {
  DEFAULTS,
  DIRECT,
  FLEET,
  MODELS,
  OWN_CIRCUITS,
  RELAY,
  RELAY_WITH_MAP,
  WITH_MAP,
} from '../protections/breakerbox.ts';
import {
  COCKATIEL,
  FRAMEWORK,
  NONE,
  OPOSSUM,
  OPOSSUM_FALLBACK,
  OPOSSUM_MODELS,
  SECOND_MODEL,
} from '../protections/peers.ts';
import type { Protection } from '../protections/protection.ts';
import { FAULTS, PROVIDER } from '../world/faults.ts';

/** A cell of the table: a framework, a protection, a fault and a habit, by their names. */
export interface Cell {
  readonly framework: string;
  readonly protection: string;
  readonly fault: string;
  readonly habit: string;
  readonly runs: number;
}

export interface Framework {
  readonly id: string;
  readonly text: string;
  readonly loop: Loop;
  readonly protections: readonly Protection[];
  /** Against an outage of the provider of the model, or why that fault is not played. */
  readonly ofModels: readonly Protection[] | string;
}

/** AI SDK and OpenAI Agents retry no tool, so they have no protection of their own. */
export const FRAMEWORKS: readonly Framework[] = [
  {
    id: 'ai-sdk',
    text: 'AI SDK 7',
    loop: aiSdkLoop,
    protections: [NONE, OPOSSUM, OPOSSUM_FALLBACK, COCKATIEL, OWN_CIRCUITS, DEFAULTS, WITH_MAP, DIRECT, FLEET],
    ofModels: [NONE, FRAMEWORK, SECOND_MODEL, OPOSSUM_MODELS, MODELS],
  },
  {
    id: 'langchain',
    text: 'LangChain 1',
    loop: langChainLoop,
    protections: [NONE, FRAMEWORK, OPOSSUM, OPOSSUM_FALLBACK, COCKATIEL, OWN_CIRCUITS, DEFAULTS, WITH_MAP, DIRECT],
    ofModels: [NONE, FRAMEWORK, SECOND_MODEL, OPOSSUM_MODELS, MODELS],
  },
  {
    id: 'openai-agents',
    text: 'OpenAI Agents',
    loop: openAiAgentsLoop,
    protections: [NONE, OPOSSUM, OPOSSUM_FALLBACK, COCKATIEL, OWN_CIRCUITS, DEFAULTS, WITH_MAP, DIRECT],
    ofModels: [NONE, SECOND_MODEL, OPOSSUM_MODELS, MODELS],
  },
  {
    id: 'mcp-relay',
    text: 'MCP through a relay',
    loop: mcpRelayLoop,
    protections: [NONE, OPOSSUM, OPOSSUM_FALLBACK, COCKATIEL, RELAY, RELAY_WITH_MAP],
    ofModels: 'Not played, because no request to a model passes through a relay.',
  },
];

/** The protections of a framework, those of models included. */
export const protectionOf = (framework: string, id: string): Protection => {
  const { protections, ofModels } = named(FRAMEWORKS, framework);
  return named([...protections, ...(typeof ofModels === 'string' ? [] : ofModels)], id);
};

export const named = <One extends { readonly id: string }>(all: readonly One[], id: string): One => {
  const found = all.find((one) => one.id === id);
  if (found === undefined) throw new Error(`${id} is not one of ${all.map((one) => one.id).join(', ')}.`);
  return found;
};

/** The fault of the headlines and of the sensitivity table: one tool is dead, and another one can replace it. */
export const HEADLINE_FAULT = 'permanent';
const FIRST = 'ai-sdk';
export const RUNS = 200;
/** Elsewhere, and for other habits, a quarter of the runs. */
const ELSEWHERE = 4;

/** The protections of the headlines and of the sensitivity table: what a peer does alone, and what knows the alternative. */
export const PEERS = [NONE, OPOSSUM, COCKATIEL, OPOSSUM_FALLBACK];
export const HEADLINE_PROTECTIONS = [...PEERS, WITH_MAP];

/** Habits but the usual one, which the main table has. */
const sensitivity = (runs: number): readonly Cell[] =>
  HABITS.filter(({ id }) => id !== USUAL_HABIT.id).flatMap((habit: Habit) =>
    HEADLINE_PROTECTIONS.map(({ id: protection }) => ({
      ...{ framework: FIRST, protection, fault: HEADLINE_FAULT },
      ...{ habit: habit.id, runs },
    })),
  );

export const allCells = (runs = RUNS): readonly Cell[] => [
  ...FRAMEWORKS.flatMap(({ id: framework, protections, ofModels }) =>
    FAULTS.flatMap(({ id: fault }) =>
      (fault !== PROVIDER ? protections : typeof ofModels === 'string' ? [] : ofModels).map(({ id: protection }) => ({
        ...{ framework, protection, fault, habit: USUAL_HABIT.id },
        runs: framework === FIRST ? runs : Math.ceil(runs / ELSEWHERE),
      })),
    ),
  ),
  ...sensitivity(Math.ceil(runs / ELSEWHERE)),
];

export const QUICK_RUNS = 20;

/** The same cells without those that only compare ways of Breakerbox and without the sensitivity, and with fewer runs: elsewhere a tenth of those of the AI SDK. */
export const quickCells = (runs = QUICK_RUNS): readonly Cell[] =>
  allCells()
    .filter(({ habit, protection, framework, fault }) => {
      const isShort = framework === FIRST || fault === HEADLINE_FAULT || fault === PROVIDER;
      return habit === USUAL_HABIT.id && ![FLEET.id, OWN_CIRCUITS.id].includes(protection) && isShort;
    })
    .map((cell) => ({ ...cell, runs: cell.framework === FIRST ? runs : Math.ceil(runs / 10) }));
