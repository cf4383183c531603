// The story under `startTelemetry`. Gives what /metrics said of it.
import * as core from '@breakerbox/core';
import * as instrumentation from '@breakerbox/instrumentation';
import { startTelemetry } from '@breakerbox/telemetry';
import { say, story } from './story.mjs';

const telemetry = startTelemetry({ serviceName: 'newcomer', prometheus: { port: 0 } });
await telemetry.ready;
const seen = await story(core, instrumentation);
const metrics = await (await fetch(telemetry.metricsUrl)).text();
await telemetry.shutdown();
say({ seen, metrics });
