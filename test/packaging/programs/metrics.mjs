// The story under `startTelemetry`. Prints what the agent saw, what /metrics showed, and whether gRPC was loaded.
import { createRequire } from 'node:module';
import * as core from '@breakerbox/core';
import * as instrumentation from '@breakerbox/instrumentation';
import { startTelemetry } from '@breakerbox/telemetry';
import { say, story } from './story.mjs';

const telemetry = startTelemetry({ serviceName: 'newcomer', prometheus: { port: 0 } });
await telemetry.ready;
const seen = await story(core, instrumentation);
const metrics = await (await fetch(telemetry.metricsUrl)).text();
await telemetry.shutdown();
const grpc = Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('@grpc'));
say({ seen, metrics, grpc });
