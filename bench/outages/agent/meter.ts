import { askProvider, nextFate, type Provider, type World } from '../world/client.ts';
import type { ScriptedAgent, Turn } from './script.ts';

/** What the turns of one run cost. A token is four characters of what the framework really sends. */
export interface Meter {
  tokensIn: number;
  tokensOut: number;
  tokensAfterFailure: number;
  /** Tokens of turns that begin with a failed or a rejected call. */
  wastedTokens: number;
  /** Calls that the model asked for and that no tool got. */
  rejected: number;
  /** Those of them that would have succeeded. */
  goodRejected: number;
  /** Calls that would have succeeded, and that the model did not make because of a note. */
  goodAvoided: number;
}

export const newMeter = (): Meter => ({
  ...{ tokensIn: 0, tokensOut: 0, tokensAfterFailure: 0 },
  ...{ wastedTokens: 0, rejected: 0, goodRejected: 0, goodAvoided: 0 },
});

const CHARACTERS_PER_TOKEN = 4;

/** Plays the turns of a task, whatever the framework: it takes what the model is sent, the result of its last call and the system prompt. */
export type TakeTurn = (
  sent: unknown,
  result: string | undefined,
  system: string,
  provider?: Provider,
) => Promise<Turn>;

export const meteredTurns = (agent: ScriptedAgent, world: World, meter: Meter, turnMs: number): TakeTurn => {
  let asked: { readonly tool: string; readonly calls: number } | undefined;
  return async (sent, result, system, provider = 'first') => {
    await askProvider(world, provider);
    if (result !== undefined && asked !== undefined && world.log.calls === asked.calls) {
      meter.rejected += 1;
      if (nextFate(world, asked.tool) === undefined) meter.goodRejected += 1;
    }
    await world.time.sleep(turnMs);
    const turn = agent.next(result, system);
    if (agent.avoided !== undefined && nextFate(world, agent.avoided) === undefined) meter.goodAvoided += 1;
    asked = 'call' in turn ? { tool: turn.call.tool, calls: world.log.calls } : undefined;
    const tokensIn = JSON.stringify(sent).length / CHARACTERS_PER_TOKEN;
    const tokensOut = JSON.stringify(turn).length / CHARACTERS_PER_TOKEN;
    meter.tokensIn += tokensIn;
    meter.tokensOut += tokensOut;
    if (world.log.firstFailureMs !== undefined) meter.tokensAfterFailure += tokensIn + tokensOut;
    if (result !== undefined && agent.hasFailed()) meter.wastedTokens += tokensIn + tokensOut;
    return turn;
  };
};
