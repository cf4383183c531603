import { createBreakerbox } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { guard } from '@breakerbox/instrumentation';

/** Calls that succeed, fail, are skipped, probe and close the circuit again. The last ones pause. */
const CALLS = [
  'ok',
  'down',
  'ok',
  'down',
  'down',
  'down',
  'down',
  'ok',
  'down',
  'ok',
  'slow',
  'down',
  'down',
  'down',
  'ok',
];

/**
 * An agent's run, and everything that the caller of its tools sees: results, errors, decisions, and the report. Equal runs give equal
 * texts, even if telemetry fails.
 *
 * @param pause Waits between two calls.
 */
export const workThrough = async (pause: () => Promise<void> = async () => {}): Promise<readonly string[]> => {
  const box = createBreakerbox({
    agent: 'worker',
    tools: { fetch: { probeAfterSteps: 2, serveStaleMs: 60_000, alternatives: [{ tool: 'other' }] }, other: {} },
    budget: { rule: 'strict', failures: 6 },
  });
  const seen: string[] = [];
  box.on('decision', ({ tool, decision, reason }) => void seen.push(`${tool}: ${decision} (${reason})`));
  box.on('outcome', ({ tool, outcome, category }) => void seen.push(`${tool}: ${outcome} ${category ?? ''}`));
  const session = box.session({ id: 'run' });
  const fetch = guard(session, 'fetch', async ({ how, turn }: { how: string; turn: number }, { signal }) => {
    signal.throwIfAborted();
    if (how === 'down') throw Object.assign(new Error(`down at ${turn}`), { status: 503 });
    return { how, turn };
  });
  for (const [turn, how] of CALLS.entries()) {
    seen.push(
      await fetch({ how, turn }).then(
        (result) => `result ${JSON.stringify(result)}`,
        (error: unknown) => `error ${String(error).replace(/in \d+ s/g, 'in some time')}`,
      ),
    );
    session.step();
    await pause();
  }
  const { headline, tools } = report(session);
  seen.push(headline, ...tools.map(({ tool, state }) => `${tool} is ${state}`));
  session.end();
  return seen;
};
