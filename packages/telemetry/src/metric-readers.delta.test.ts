import { emptyResource } from '@opentelemetry/resources';
import { afterEach, expect, test, vi } from 'vitest';
import { pushExporters } from './metric-readers.ts';
import { startOtlpReceiver } from './test-support/otlp-receiver.ts';

afterEach(() => vi.unstubAllEnvs());

test.each([
  ['cumulative', 1],
  ['delta', 2],
  ['lowmemory', 2],
])(
  '%s: of two pushes to a backend that does not answer %i are begun, so that none is lost',
  async (preference, sent) => {
    await using receiver = await startOtlpReceiver({ hang: true });
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: preference,
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const [exporter] = pushExporters(['otlp'], env);
    const answers: number[] = [];
    const push = (): void =>
      exporter?.export({ resource: emptyResource(), scopeMetrics: [] }, ({ code }) => void answers.push(code));
    push();
    await receiver.received('/v1/metrics');
    push();
    await vi.waitFor(() => expect([receiver.requests.length, answers.length]).toEqual([sent, 2 - sent]), {
      timeout: 20_000,
    });
  },
);
