import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import type { Measure } from '../contest.ts';
import { AGENT, byHand } from '../ours.ts';
import { cockatielCircuit, opossumCircuit, opossumMetrics } from '../peers.ts';
import { type Racer, race } from '../race.ts';
import { TOOLS, tool } from '../tool.ts';

const opossumSession = (metrics?: ReturnType<typeof opossumMetrics>) => async () => {
  const circuits = TOOLS.map((name) => opossumCircuit(tool, { name }));
  metrics?.add(circuits);
  for (const circuit of circuits) await circuit.fire(1);
  for (const circuit of circuits) circuit.shutdown();
};

const contestants = (): readonly Racer[] => {
  const box = createBreakerbox({ agent: AGENT, tools: Object.fromEntries(TOOLS.map((name) => [name, {}])) });
  return [
    {
      id: 'bare',
      title: '20 calls alone',
      by: 'bare',
      run: async () => {
        for (const _name of TOOLS) await tool(1);
      },
    },
    {
      id: 'cockatiel',
      title: 'cockatiel, 20 circuits made and used',
      by: 'cockatiel',
      run: async () => {
        const circuits = TOOLS.map(() => cockatielCircuit());
        for (const circuit of circuits) await circuit.execute(() => tool(1));
      },
    },
    { id: 'opossum', title: 'opossum, 20 circuits made, used and shut down', by: 'opossum', run: opossumSession() },
    {
      id: 'opossum-prometheus',
      title: 'opossum + opossum-prometheus, the same',
      by: 'opossum-prometheus',
      run: opossumSession(opossumMetrics()),
    },
    {
      id: 'empty',
      title: 'Breakerbox, a session made and ended',
      by: 'breakerbox',
      run: () => box.session().end(),
      sync: true,
    },
    {
      id: 'hand',
      title: 'Breakerbox, each tool used once by acquire and settle',
      by: 'breakerbox',
      run: async () => {
        const session = box.session();
        for (const name of TOOLS) await byHand(session, tool, name)(1);
        session.end();
      },
    },
    {
      id: 'guard',
      title: 'Breakerbox, 20 tools guarded and each used once',
      by: 'breakerbox',
      run: async () => {
        const session = box.session();
        const guarded = TOOLS.map((name) => guard(session, name, tool));
        for (const call of guarded) await call(1);
        session.end();
      },
    },
  ];
};

/** A run of an agent: circuits for its tools, one call of each tool, and the end of the session. */
export const measure: Measure = (pace) => race(contestants(), pace);
