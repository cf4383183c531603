import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { test } from 'vitest';
import { type Watched, watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import type { AgentEnd, AgentRun, Feature, Harness, ToolBody } from './harness.ts';

/** What all parts of the contract share. */
export interface Suite {
  readonly harness: Harness;
  run(agent: AgentRun): Promise<AgentEnd>;
  /** A test of a feature that the framework may lack. It is skipped then, with the harness's reason. */
  testIf(features: readonly Feature[], name: string, body: () => Promise<void>): void;
}

export const suiteOf = (harness: Harness): Suite => ({
  harness,
  run: (agent) => harness.run(agent),
  testIf: (features, name, body) => {
    const missing = features.find((feature) => harness.lacks[feature] !== undefined);
    if (missing === undefined) test(name, body);
    else test.skip(`${name} (${missing}: ${harness.lacks[missing]})`, body);
  },
});

export const refusedConnection = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });

export const failing: ToolBody = async () => {
  throw refusedConnection();
};

export const ask = (q: unknown, tool = 'search') => ({ tool, input: { q } });
/** So many turns in which the model calls `search`, each time with other arguments. */
export const asking = (turns: number): ScriptedStep[] => Array.from({ length: turns }, (_, turn) => [ask(`${turn}`)]);

export const HANGING_MS = 40;
export const hanging: ToolBody = () => new Promise(() => {});

/** A session whose `search` is unavailable, and due for a probe. */
export const dueForProbe = (): Watched => {
  const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
  watched.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  for (let step = 0; step < 3; step += 1) watched.session.step();
  return watched;
};

/** What it must read after the failure that opens the circuit (R5). */
export const ADVICE =
  /<breakerbox>Tool 'search' is not available now: the last calls failed \(network\)\. Do not call it now\..* Use 'news' instead/;

/** What the model must read about an unavailable tool. */
export const REJECTION = /Tool 'search' is unavailable: the last calls failed \(network\)\. Do not call it now/;
