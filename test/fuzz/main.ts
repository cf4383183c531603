/**
 * `npm run fuzz -- --minutes 10 [--out fuzz-out] [--seed 1] [--only snapshot]`: changes inputs of the corpus, and keeps those that run code
 * that no input ran before. Writes to `--out`: `learned` (for the next run), `failed` (inputs that break a promise) and `running`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CORPUS, inputsIn, keep, writeInput } from './corpus.ts';
import { watchCoverage } from './coverage.ts';
import { mutate, randomFrom } from './mutate.ts';
import { stopTargets, type Target, targets } from './targets.ts';

/** CPU time in milliseconds that an input of 20,000 characters may take. */
const MOST_CPU_MS = 1_000;
/** Inputs between two looks at the coverage, which takes 50 ms. */
const BATCH = 128;
/** Different failures of one target that are written in one run. */
const MOST_FAILURES = 10;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    out: { type: 'string', default: 'fuzz-out' },
    seed: { type: 'string', default: String(Date.now() & 0x7fff_ffff) },
    only: { type: 'string' },
  },
});

const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, but is ${values.minutes}`);
const chosen = Object.entries(targets).filter(([name]) => values.only === undefined || values.only === name);
if (chosen.length === 0) throw new Error(`--only must be one of ${Object.keys(targets).join(', ')}`);

const random = randomFrom(Number(values.seed));
const coverage = await watchCoverage();
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** How an input failed; undefined if it did not. */
const failureOf = async (target: Target, text: string): Promise<string | undefined> => {
  const before = process.cpuUsage();
  try {
    await target(text);
  } catch (error) {
    return String(error instanceof Error ? error.stack : error);
  }
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1_000;
  return ms > MOST_CPU_MS ? `took ${Math.round(ms)} ms of CPU time for ${text.length} characters` : undefined;
};

let failed = 0;

const fuzz = async (name: string, target: Target, until: number): Promise<void> => {
  const learned = join(values.out, 'learned', name);
  const pool = [...inputsIn(join(CORPUS, name)).values(), ...inputsIn(learned).values()];
  const kinds = new Set<string>();
  let runs = 0;
  const tryOne = async (text: string): Promise<void> => {
    writeInput(join(values.out, 'running', `${name}.txt`), text); // It is what is left if the input hangs.
    const failure = await failureOf(target, text);
    runs += 1;
    if (failure === undefined) return;
    const kind = failure.replaceAll(/\d+/g, '').split('\n').slice(0, 3).join('\n');
    if (kinds.has(kind) || kinds.size >= MOST_FAILURES) return;
    kinds.add(kind);
    failed += 1;
    say(`${name}: ${keep(join(values.out, 'failed', name), text)}\n${failure}`);
  };
  for (const text of pool) await tryOne(text);
  const seen = new Set(await coverage.ran());
  /** One of the inputs that run `fresh` code: half of the inputs run again, until one is left. */
  const find = async (inputs: readonly string[], fresh: readonly string[]): Promise<string> => {
    if (inputs.length <= 1) return inputs[0] ?? '';
    const half = inputs.slice(0, inputs.length >> 1);
    for (const text of half) await tryOne(text);
    const ran = await coverage.ran();
    return find(fresh.some((one) => ran.has(one)) ? half : inputs.slice(half.length), fresh);
  };
  while (Date.now() < until) {
    const batch = Array.from({ length: BATCH }, () => mutate(pool[random(pool.length)] ?? '', pool, random));
    for (const text of batch) await tryOne(text);
    const fresh = [...(await coverage.ran())].filter((one) => !seen.has(one));
    if (fresh.length === 0) continue;
    for (const one of fresh) seen.add(one);
    const text = await find(batch, fresh);
    pool.push(text);
    keep(learned, text);
  }
  say(`${name}: ${runs} inputs, ${pool.length} in the corpus, ${kinds.size} failed`);
};

mkdirSync(join(values.out, 'running'), { recursive: true });
say(`seed ${values.seed}, ${minutes} minutes`);
for (const [name, target] of chosen) await fuzz(name, target, Date.now() + (minutes * 60_000) / chosen.length);
coverage.stop();
await stopTargets();
process.exitCode = failed > 0 ? 1 : 0;
