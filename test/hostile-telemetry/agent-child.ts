/** An agent with telemetry by the environment, in a process of its own: works, prints what its caller saw, and ends by itself. */
import { setTimeout as wait } from 'node:timers/promises';
import { startTelemetry } from '@breakerbox/telemetry';
import { metrics } from '@opentelemetry/api';
import { workThrough } from './work.ts';

const telemetry = startTelemetry({ serviceName: 'worker', prometheus: { port: 0 } });
if (process.argv[2] === 'hanging metric') {
  metrics
    .getMeter('application')
    .createObservableGauge('stuck')
    .addCallback(() => new Promise(() => {}));
}
await telemetry.ready;
const seen = await workThrough(() => wait(60));
const response = await fetch(telemetry.metricsUrl ?? '');
const scraped = { status: response.status, lines: (await response.text()).split('\n').length > 20 };
process.stdout.write(JSON.stringify({ seen, scraped }));
