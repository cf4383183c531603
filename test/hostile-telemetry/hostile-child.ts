/** An agent in a process of its own, with telemetry configured by the environment. It prints what its caller saw, and exits by itself. */
import { setTimeout as wait } from 'node:timers/promises';
import { startTelemetry } from '@breakerbox/telemetry';
import { DiagLogLevel, diag, metrics, type ObservableCallback } from '@opentelemetry/api';
import { workThrough } from './work.ts';

const telemetry = startTelemetry({ serviceName: 'worker', prometheus: { port: 0 } });
const observe = (callback: ObservableCallback): void =>
  metrics.getMeter('application').createObservableGauge('gauge').addCallback(callback);
const hostile: Readonly<Record<string, () => void>> = {
  'hanging metric': () => observe(() => new Promise(() => {})),
  'metric that OTLP cannot write': () => {
    const value = {
      toJSON: () => 'text', // For the scrape.
      get part() {
        throw new Error('not to be read');
      },
    };
    observe((result) => result.observe(1, { value } as never));
  },
  'logger that throws': () => {
    let live = false;
    const refuse = (): void => {
      if (live) throw new Error('the logger is broken');
    };
    const logger = { error: refuse, warn: refuse, info: refuse, debug: refuse, verbose: refuse };
    diag.setLogger(logger, { logLevel: DiagLogLevel.ALL, suppressOverrideMessage: true });
    live = true; // OpenTelemetry logs a line when it sets a logger, and crashes if the logger throws then.
  },
};
hostile[process.argv[2] ?? '']?.();
await telemetry.ready;
const seen = await workThrough(() => wait(60));
const response = await fetch(telemetry.metricsUrl ?? '');
const scraped = { status: response.status, lines: (await response.text()).split('\n').length > 20 };
process.stdout.write(`\n${JSON.stringify({ seen, scraped })}\n`);
