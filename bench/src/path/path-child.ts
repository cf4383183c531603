import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import type { Sdk } from '../contest.ts';
import { AGENT } from '../ours.ts';
import { cockatielCircuit, opossumCircuit } from '../peers.ts';
import { startSdk } from '../sdk.ts';
import { TOOL, tool } from '../tool.ts';
import { startTrace } from './trace.ts';

const trace = await startTrace();
const running = await startSdk(process.argv[2] as Sdk);

const guarded = guard(createBreakerbox({ agent: AGENT, tools: { [TOOL]: {} } }).session(), TOOL, tool);
const cockatiel = cockatielCircuit();
const opossum = opossumCircuit();

/** A call, and which files are part of the breaker. */
const contestants = [
  { name: 'guard()', call: guarded, files: /\/packages\/\w+\// },
  {
    name: 'cockatiel',
    call: (input: number) => cockatiel.execute(() => tool(input)),
    files: /\/node_modules\/cockatiel\//,
  },
  { name: 'opossum', call: (input: number) => opossum.fire(input), files: /\/node_modules\/opossum\// },
];

let input = 0;
const paths = [];
for (const { name, call, files } of contestants) {
  const traced = await trace(() => call(input++)); // A new input each time: a repeated call would be another case.
  paths.push({ name, files: traced.filter(({ url }) => files.test(url)) });
}
await running.stop();
process.send?.(paths, () => process.disconnect());
