// Two copies of Breakerbox in one process, as when a dependency brings one of its own: the application's, and that in plugin/.
import * as core from '@breakerbox/core';
import * as instrumentation from '@breakerbox/instrumentation';
import { startTelemetry } from '@breakerbox/telemetry';
import * as theirs from './plugin/copy.mjs';
import { say, story } from './story.mjs';

const telemetry = startTelemetry({ serviceName: 'two-copies', prometheus: { port: 0 } });
await telemetry.ready;
const mine = await story(core, instrumentation);
const other = await story(theirs.core, theirs.instrumentation);
// An application that brought its core up to date, and not yet what guards its tools.
const mixed = await story(core, theirs.instrumentation);

// A tool of ours that calls one of theirs, which is out: a refusal is no failure of ours.
const session = core.createBreakerbox({ agent: 'outer', tools: { plan: {} } }).session();
const inner = theirs.core.createBreakerbox({ agent: 'inner', tools: { maps: {} } }).session();
const maps = theirs.instrumentation.guard(inner, 'maps', async () => {
  throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
});
for (let times = 0; times < 3; times += 1) await maps().catch(() => undefined);
// Arguments of its own for each: the same call over and over would be the loop guard's.
const plan = instrumentation.guard(session, 'plan', (_step) => maps());
const refusals = [];
for (let times = 0; times < 5; times += 1)
  refusals.push(await plan({ step: times }).catch(({ name, code, tool }) => ({ name, code, tool })));

const metrics = await (await fetch(telemetry.metricsUrl)).text();
await telemetry.shutdown();
say({
  distinct:
    core.createBreakerbox !== theirs.core.createBreakerbox && instrumentation.guard !== theirs.instrumentation.guard,
  mine,
  other,
  mixed,
  refusals,
  metrics,
});
