import { CASES } from './cases.ts';
import { FULL, QUICK, type Sdk } from './contest.ts';
import { startSdk } from './sdk.ts';

/** One case under one SDK, in a process of its own: the garbage of one case cannot slow down another. */
const [id, sdk, pace] = process.argv.slice(2);
const found = CASES.find((one) => one.id === id && one.sdks.includes(sdk as Sdk));
if (found === undefined || process.send === undefined)
  throw new Error('The benchmark starts this file by itself. Run `pnpm bench` instead.');

process.once('disconnect', () => process.exit()); // The benchmark is gone and does not wait for the answer.

const running = await startSdk(sdk as Sdk);
const { measure } = await found.load();
const findings = await measure(pace === 'quick' ? QUICK : FULL, sdk as Sdk, running);
const all = await running.facts();
await running.stop();
process.send({ ...findings, facts: { ...findings.facts, all } }, () => process.disconnect());
