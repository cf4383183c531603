/**
 * `node --import @breakerbox/telemetry/register agent.js` starts telemetry without a change to the code. The `OTEL_` variables
 * set it up.
 */
import { isMainThread } from 'node:worker_threads';
import { startTelemetry } from './start.ts';

// Node runs --import in worker threads too, where the main thread already has the port.
startTelemetry(isMainThread ? {} : { prometheus: false });
