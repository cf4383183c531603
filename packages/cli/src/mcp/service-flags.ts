import type { Listen } from '@breakerbox/control';
import type { TelemetryOptions } from '@breakerbox/telemetry';
import type { Command } from 'commander';

type Environment = Readonly<Record<string, string | undefined>>;

/** What runs beside the relay, as the flags say it. */
export interface ServiceFlags {
  /** True without an address. */
  readonly prometheus?: string | true;
  readonly otlp?: boolean;
  /** True without an endpoint. */
  readonly control?: string | true;
}

/** Adds the options of telemetry and of the control API to `breakerbox mcp`. */
export const withServiceOptions = (command: Command): Command =>
  command
    .option(
      '--prometheus [address]',
      'serve /metrics on a port or HOST:PORT; 0 takes a free port; default: 127.0.0.1:9464',
    )
    .option('--otlp', 'send telemetry to the endpoint of the OTEL_EXPORTER_OTLP_ variables; default: localhost:4318')
    .option(
      '--control [endpoint]',
      'let breakerbox ctl act on this relay; a socket or a port; default: a socket that ctl finds',
    );

/** How telemetry starts. */
export interface TelemetryPlan {
  readonly options: TelemetryOptions;
  /** Whether all signals go to OTLP, also where no variable asks for it. */
  readonly otlp: boolean;
}

/** What runs beside a relay. Undefined means that no flag asks for it. None of its code is loaded then. */
export interface ServicePlan {
  readonly telemetry: TelemetryPlan | undefined;
  readonly control: { readonly listen: Listen } | undefined;
}

/**
 * Reads the flags and the `OTEL_` variables.
 *
 * @throws Error if an address can't work. The server has not started then.
 */
export const planServices = (flags: ServiceFlags, env: Environment): ServicePlan => ({
  telemetry: planTelemetry(flags, env),
  control: flags.control === undefined ? undefined : { listen: listenOf(flags.control, env) },
});

const isSet = (env: Environment, name: string): boolean => env[name]?.trim() !== undefined && env[name]?.trim() !== '';

const planTelemetry = ({ prometheus, otlp = false }: ServiceFlags, env: Environment): TelemetryPlan | undefined => {
  const scrape = prometheus === undefined ? undefined : scrapeAddressOf(prometheus);
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return undefined;
  if (scrape === undefined && !otlp && !asksForOtlp(env)) return undefined;
  const isNamed = isSet(env, 'OTEL_SERVICE_NAME') || /\bservice\.name=/.test(env.OTEL_RESOURCE_ATTRIBUTES ?? '');
  // Only the flag opens a port. The variables may be those of the client, which has the port itself.
  return { otlp, options: { prometheus: scrape ?? false, ...(!isNamed && { serviceName: 'breakerbox-mcp' }) } };
};

const SIGNALS = ['TRACES', 'METRICS', 'LOGS'] as const;

const asksForOtlp = (env: Environment): boolean =>
  isSet(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ||
  SIGNALS.some(
    (signal) =>
      isSet(env, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) || /\botlp\b/.test(env[`OTEL_${signal}_EXPORTER`] ?? ''),
  );

/** The variables with which telemetry starts for `--otlp`. Those that are set stay as they are. */
export const otlpVariables = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    SIGNALS.map((signal) => `OTEL_${signal}_EXPORTER`).flatMap((name) => (isSet(env, name) ? [] : [[name, 'otlp']])),
  );

/** A port, or a host and a port. An IPv6 address is written in brackets. */
const PLACE = /^(?:(?<host>[\w.-]+|\[[\da-fA-F:.]+\]):)?(?<port>\d{1,5})$/;

export const placeOf = (text: string): { readonly host?: string; readonly port: number } | undefined => {
  const { host, port } = PLACE.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) return undefined;
  return { port: Number(port), ...(host !== undefined && { host: host.replace(/^\[|\]$/g, '') }) };
};

const scrapeAddressOf = (given: string | true) => {
  const place = given === true ? {} : placeOf(given);
  if (place !== undefined) return place;
  throw new Error(
    `--prometheus is '${given}', which is not an address. Write a port such as 9465, HOST:PORT, 0 for a free port, or nothing for 127.0.0.1:9464. Write -- before the command of the server.`,
  );
};

const listenOf = (given: string | true, env: Environment): Listen => {
  if (given === true) return {};
  const socket = given.replace(/^unix:/, '');
  if (socket.startsWith('/')) return { socket };
  const place = placeOf(given);
  if (place === undefined)
    throw new Error(
      `--control is '${given}', which is not an endpoint. Write the path of a socket such as /run/relay.sock, a port, HOST:PORT, or nothing for a socket that breakerbox ctl finds. Write -- before the command of the server.`,
    );
  const tokens = env.BREAKERBOX_CONTROL_TOKENS?.trim();
  if (tokens) return { ...place, tokens };
  throw new Error(
    `--control is '${given}', but BREAKERBOX_CONTROL_TOKENS is not set, and a port needs a file of tokens. Set it to the path of a file that \`breakerbox ctl token create NAME --file FILE\` has written, or use a socket.`,
  );
};
