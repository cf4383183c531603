import { createServer } from 'node:net';
import { startTelemetry, type TelemetryHandle } from '@breakerbox/telemetry';
import { DemoError } from './errors.ts';
import type { Journal } from './journal.ts';

/** The address for `/metrics`. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
  /** Whether the user chose this port. Then no other port is tried. */
  readonly isPortWanted: boolean;
}

/** Running telemetry, and the URL of its metrics; undefined if the environment has disabled the SDK. */
export interface MetricsEndpoint {
  readonly telemetry: TelemetryHandle;
  readonly url: string | undefined;
}

/**
 * Starts telemetry with `/metrics`. The `OTEL_` variables decide everything else.
 *
 * @throws DemoError if the address cannot be used.
 */
export const startMetrics = async (address: MetricsAddress, journal: Journal): Promise<MetricsEndpoint> => {
  const port = await choosePort(address, journal);
  const telemetry = startTelemetry({
    serviceName: process.env.OTEL_SERVICE_NAME?.trim() || 'breakerbox-demo',
    prometheus: { host: address.host, port },
  });
  await telemetry.ready;
  if (telemetry.metricsUrl === undefined) {
    journal.note(
      'telemetry',
      'there is no /metrics: OTEL_SDK_DISABLED is set, or another telemetry message says why',
      'warn',
    );
  }
  return { telemetry, url: telemetry.metricsUrl };
};

const choosePort = async ({ host, port, isPortWanted }: MetricsAddress, journal: Journal): Promise<number> => {
  const code = await tryListening(host, port);
  if (code === undefined) return port;
  if (code === 'EADDRINUSE' && !isPortWanted) {
    journal.note(
      'telemetry',
      `port ${port} is in use, so /metrics is on a free port. To choose one, add --port`,
      'warn',
    );
    return 0;
  }
  const where = `can't serve /metrics on ${host}:${port} (${code})`;
  if (code === 'EADDRINUSE') {
    throw new DemoError(
      `${where}: another program uses this port, perhaps another demo. Stop it, or choose another port with --port; --port 0 takes any free port.`,
    );
  }
  if (code === 'EACCES') {
    throw new DemoError(
      `${where}: this user has no permission for this port. Choose a port of 1024 or more with --port.`,
    );
  }
  throw new DemoError(`${where}. Choose an address of this machine with --host, such as 127.0.0.1 or 0.0.0.0.`);
};

/** The error code of listening on this address; undefined if it works. */
const tryListening = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });

/** Host and port at which a program on this machine reaches `/metrics`. */
export const scrapeTarget = (metricsUrl: string): string => {
  const { hostname, port } = new URL(metricsUrl);
  const everywhere = hostname === '0.0.0.0' || hostname === '[::]';
  // URL leaves out the default port of its scheme.
  return `${everywhere ? '127.0.0.1' : hostname}:${port || '80'}`;
};
