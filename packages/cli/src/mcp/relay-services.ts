import { setTimeout as after } from 'node:timers/promises';
import type { Control } from '@breakerbox/control';
import type { TelemetryHandle } from '@breakerbox/telemetry';
import type { CommandIo } from '../command-io.ts';
import type { RelayBox } from './relay-box.ts';
import { otlpVariables, type ServicePlan, type TelemetryPlan } from './service-flags.ts';

/** Most milliseconds that the last telemetry may hold up the end of a relay. Clients kill a relay 2 s after they have closed it. */
const LIMIT_MS = 1_500;

/** Most milliseconds that a client which does not read may hold up the end of a relay that was told to end (M7). */
const UNREAD_MS = 2_000;

/** Telemetry and the control API of a relay (M5, M9). */
export interface RelayServices {
  /**
   * Sends the last telemetry, for {@link LIMIT_MS} at most, and ends the process. Without services, the process ends by itself.
   *
   * @param isStopped Whether the relay was told to end. It then waits for a client that does not read for {@link UNREAD_MS} at most.
   */
  end(isStopped?: boolean): Promise<void>;
}

/**
 * Starts what runs beside a relay. The relay does not wait for it: the code loads while the server starts. What could not start is reported
 * on stderr, and the relay goes on without it. Only this loads the code of telemetry and of the control API (M10).
 *
 * @param exit Ends the process with its exit code. Connections of exporters would keep it alive.
 */
export const startRelayServices = (
  { telemetry, control }: ServicePlan,
  relayBox: RelayBox,
  io: CommandIo,
  exit: () => void = process.exit,
): RelayServices => {
  const running = [
    ...(telemetry === undefined ? [] : [reported('telemetry', startTelemetry(telemetry, io), io)]),
    ...(control === undefined ? [] : [reported('the control API', startControl(control, relayBox, io), io)]),
  ];
  return {
    end: async (isStopped = false) => {
      const limit = (): void => void setTimeout(exit, UNREAD_MS).unref();
      if (isStopped) limit();
      if (running.length === 0) return;
      // A client may send a signal meanwhile, which would end the process at once.
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, limit);
      const closed = Promise.all(running.map(async (service) => (await service)?.close()));
      await Promise.race([closed, after(LIMIT_MS)]);
      await written(process.stdout);
      exit();
    },
  };
};

interface Service {
  close(): Promise<void>;
}

const reported = (name: string, starting: Promise<Service>, io: CommandIo): Promise<Service | undefined> =>
  starting.catch((error: Error) => {
    io.err(`breakerbox mcp: ${name} could not be started: ${error.message}\n`);
    return undefined;
  });

const startTelemetry = async ({ options, otlp }: TelemetryPlan, io: CommandIo): Promise<Service> => {
  consoleToStderr();
  const { startTelemetry } = await import('@breakerbox/telemetry');
  const handle = withVariables(otlp ? otlpVariables(process.env) : {}, (): TelemetryHandle => startTelemetry(options));
  await handle.ready;
  if (handle.metricsUrl !== undefined) io.err(`breakerbox mcp: metrics are at ${handle.metricsUrl}\n`);
  return { close: () => handle.shutdown() };
};

const startControl = async (
  options: NonNullable<ServicePlan['control']>,
  { box, session }: RelayBox,
  io: CommandIo,
): Promise<Service> => {
  const { startControl } = await import('@breakerbox/control');
  const control: Control = await startControl({ ...options, boxes: [box] });
  session.beginTask(); // The control API lists a session from its next use on. No task was under way.
  io.err(`breakerbox mcp: breakerbox ctl finds this relay at ${control.url}\n`);
  return control;
};

/** Calls `start` with more variables. The server that the relay starts does not see them. */
const withVariables = <Made>(variables: Readonly<Record<string, string>>, start: () => Made): Made => {
  Object.assign(process.env, variables);
  try {
    return start();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
};

/**
 * Standard output carries messages of MCP only, but OpenTelemetry's loggers and console exporters write to the console. They may have
 * kept its methods, so the stream behind them is replaced.
 */
const consoleToStderr = (): void => {
  Object.assign(console, { _stdout: process.stderr });
};

/** Waits until the client has what the relay wrote for it. */
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) return resolve();
    stream.once('close', resolve);
    stream.write('', () => resolve());
  });
