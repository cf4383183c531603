import { CASES } from './cases.ts';
import { FULL, QUICK, type Sdk } from './contest.ts';
import { startSdk } from './sdk.ts';

/** One case under one SDK, in a process of its own: what one of them leaves behind can't slow down another. */
const [id, sdk, pace] = process.argv.slice(2);
const found = CASES.find((one) => one.id === id && one.sdks.includes(sdk as Sdk));
if (found === undefined || process.send === undefined)
  throw new Error('This is a part of the benchmark that it starts by itself. Run `pnpm bench`.');

process.once('disconnect', () => process.exit()); // Nobody waits for the answer any more.

const running = await startSdk(sdk as Sdk);
const { measure } = await found.load();
const findings = await measure(pace === 'quick' ? QUICK : FULL, sdk as Sdk, running);
const all = await running.facts();
await running.stop();
process.send({ ...findings, facts: { ...findings.facts, all } }, () => process.disconnect());
