import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import type { Sdk } from '../contest.ts';
import { AGENT } from '../ours.ts';
import { cockatielCircuit, opossumCircuit } from '../peers.ts';
import { startSdk } from '../sdk.ts';
import { caught, OUTAGE, TOOL, tool } from '../tool.ts';
import { startTrace } from './trace.ts';

const trace = await startTrace();
const running = await startSdk(process.argv[2] as Sdk);

const box = createBreakerbox({ agent: AGENT, tools: { [TOOL]: {} } });
/** An input of a model is an object. Each call has another one, because a repeated call would be another case. */
const inputOf = (page: number) => ({ query: 'weather in Oslo', page });
let page = 0;

const guarded = guard(box.session(), TOOL, async (input: { readonly page: number }) => input.page);
const cockatiel = cockatielCircuit();
const opossum = opossumCircuit();

/** A guarded tool of a new session that works once, and has then failed so often. */
const failing = async (failures: number) => {
  let calls = 0;
  const broken = guard(box.session(), TOOL, async (input: { readonly page: number }): Promise<number> => {
    calls += 1;
    if (calls > 1) throw OUTAGE;
    return input.page;
  });
  const call = caught(() => broken(inputOf(page++)));
  for (let left = failures; left >= 0; left -= 1) await call();
  return call;
};

/** How a call is prepared, and which files are part of the breaker. */
const OURS = /\/packages\/\w+\//;
const contestants = [
  { name: 'guard()', prepare: async () => () => guarded(inputOf(page++)), files: OURS },
  { name: 'guard(), skipped', prepare: () => failing(3), files: OURS },
  { name: 'guard(), third failure', prepare: () => failing(2), files: OURS },
  {
    name: 'cockatiel',
    prepare: async () => () => cockatiel.execute(() => tool(page++)),
    files: /\/node_modules\/cockatiel\//,
  },
  { name: 'opossum', prepare: async () => () => opossum.fire(page++), files: /\/node_modules\/opossum\// },
];

const paths = [];
for (const { name, prepare, files } of contestants) {
  const traced = await trace(prepare);
  paths.push({ name, files: traced.filter(({ url }) => files.test(url)) });
}
await running.stop();
process.send?.(paths, () => process.disconnect());
