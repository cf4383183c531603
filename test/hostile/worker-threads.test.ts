import { describe, expect, it } from 'vitest';
import { runChild } from './child-process.ts';

const REGISTER = ['--import', '@breakerbox/telemetry/register'];

interface Output {
  /** Exit codes of worker threads that ended by themselves. */
  readonly codes: readonly number[];
  /** What a worker's call returned, and how the worker's own circuit changed. */
  readonly workers: readonly { readonly decisions: readonly string[]; readonly metricsUrl: string | null }[];
  /** Calls that the main thread's /metrics shows, by agent. */
  readonly calls: Readonly<Record<string, number>>;
}

const outputOf = (stdout: string): Output => JSON.parse(stdout);

describe('boxes in the main thread and in worker threads', () => {
  it('without telemetry: each thread has its own circuits, each thread and the process end by themselves', async () => {
    const ended = await runChild('worker-threads.child.ts');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { codes, workers } = outputOf(ended.stdout);
    expect(codes).toEqual([0, 0, 0]);
    for (const { decisions } of workers) expect(decisions).toEqual(['call', 'call', 'call', 'skip']);
  });

  it('with --import register in all of them: only the main thread has the port, and shows only its own calls', async () => {
    const port = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
    const ended = await runChild('worker-threads.child.ts', REGISTER, port);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { codes, workers, calls } = outputOf(ended.stdout);
    expect(codes).toEqual([0, 0, 0]);
    expect(workers.map(({ metricsUrl }) => metricsUrl)).toEqual([null, null, null]);
    // Threads share no memory. Workers push their own counts, or nothing shows them.
    expect(calls).toEqual({ main: 4 });
  });

  it('with OTLP by register: each worker pushes its own calls before it ends, and the calls of a terminated worker are lost', async () => {
    const { createServer } = await import('node:http');
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        bodies.push(Buffer.concat(chunks).toString('latin1'));
        response.end('{}');
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const { port } = server.address() as { port: number };
      const ended = await runChild('worker-threads.child.ts', REGISTER, {
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      });
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      for (const agent of ['main', 'worker-1', 'worker-2', 'worker-3']) {
        expect(bodies.filter((body) => body.includes(`"${agent}"`))).not.toEqual([]);
      }
      expect(bodies.filter((body) => body.includes('"worker-4"'))).toEqual([]);
    } finally {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  });
});
