import { createServer } from 'node:net';
import { startTelemetry, type TelemetryHandle } from '@breakerbox/telemetry';
import { DemoError } from './errors.ts';
import type { Journal } from './journal.ts';

/** Where `/metrics` is to be. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
  /** Whether somebody asked for this port: then no other will do. */
  readonly isPortWanted: boolean;
}

/** Running telemetry, and where its metrics are; undefined where the environment has turned the SDK off. */
export interface MetricsEndpoint {
  readonly telemetry: TelemetryHandle;
  readonly url: string | undefined;
}

/**
 * Starts telemetry with `/metrics`. Everything else is for the `OTEL_` variables to say.
 *
 * @throws DemoError when the address can't be had.
 */
export const startMetrics = async (address: MetricsAddress, journal: Journal): Promise<MetricsEndpoint> => {
  const port = await choosePort(address, journal);
  const telemetry = startTelemetry({
    serviceName: process.env.OTEL_SERVICE_NAME?.trim() || 'breakerbox-demo',
    prometheus: { host: address.host, port },
  });
  await telemetry.ready;
  if (telemetry.metricsUrl === undefined) {
    journal.note('telemetry', 'there is no /metrics: OTEL_SDK_DISABLED is set, or the line on stderr says why', 'warn');
  }
  return { telemetry, url: telemetry.metricsUrl };
};

const choosePort = async ({ host, port, isPortWanted }: MetricsAddress, journal: Journal): Promise<number> => {
  const code = await tryListening(host, port);
  if (code === undefined) return port;
  if (code === 'EADDRINUSE' && !isPortWanted) {
    journal.note('telemetry', `port ${port} is taken, so /metrics is on a free one; --port chooses`, 'warn');
    return 0;
  }
  const where = `can't serve /metrics on ${host}:${port} (${code})`;
  if (code === 'EADDRINUSE') {
    throw new DemoError(
      `${where}: another program listens there, perhaps another demo. Stop it, or give --port another port; --port 0 takes any free one.`,
    );
  }
  if (code === 'EACCES') {
    throw new DemoError(`${where}: this user may not listen there. Give --port a port of 1024 or more.`);
  }
  throw new DemoError(`${where}. Give --host an address of this machine, such as 127.0.0.1 or 0.0.0.0.`);
};

/** The code of the error that listening there gives; undefined when it works. */
const tryListening = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });

/** Host and port under which a program of this machine reaches `/metrics`. */
export const scrapeTarget = (metricsUrl: string): string => {
  const { hostname, port } = new URL(metricsUrl);
  const everywhere = hostname === '0.0.0.0' || hostname === '[::]';
  // URL leaves out the default port of its scheme.
  return `${everywhere ? '127.0.0.1' : hostname}:${port || '80'}`;
};
