/**
 * `node --import @breakerbox/telemetry/register agent.js`: telemetry with no change to the code, set up by the `OTEL_`
 * variables alone.
 */
import { isMainThread } from 'node:worker_threads';
import { startTelemetry } from './start.ts';

// Node runs --import in worker threads too, where the main thread has the port.
startTelemetry(isMainThread ? {} : { prometheus: false });
