// The story under `startTelemetry`, after what the argument names has set up telemetry of its own. Gives what the agent saw, what /metrics
// said, and what was logged.
import * as core from '@breakerbox/core';
import * as instrumentation from '@breakerbox/instrumentation';
import { startTelemetry } from '@breakerbox/telemetry';
import { diag } from '@opentelemetry/api';
import { say, story } from './story.mjs';

const setUp = process.argv[2];
const { counted = () => undefined, done = () => {} } = setUp === undefined ? {} : await import(setUp);
const logged = [];
const log = (message) => logged.push(String(message));
diag.setLogger({ error: log, warn: log, info() {}, debug() {}, verbose() {} }, { suppressOverrideMessage: true });

const telemetry = startTelemetry({ serviceName: 'beside', prometheus: { port: 0 } });
await telemetry.ready;
const seen = await story(core, instrumentation);
const metrics = telemetry.metricsUrl === undefined ? '' : await (await fetch(telemetry.metricsUrl)).text();
const theirs = await counted();
await telemetry.shutdown();
await done();
process.stdout.write('\n');
say({ seen, metrics, theirs, logged });
process.exit(0);
