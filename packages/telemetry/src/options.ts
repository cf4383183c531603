import { BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';
import { type Environment, envValue } from './environment.ts';
import { log } from './log.ts';

/** The address that Prometheus scrapes. */
export interface PrometheusOptions {
  /**
   * Address to listen on. Default: `OTEL_EXPORTER_PROMETHEUS_HOST`, else `127.0.0.1`, so that only this machine can read the
   * metrics. In a container, use `0.0.0.0`.
   */
  readonly host?: string | undefined;
  /**
   * Port, 0 to 65535. With 0 the system picks a free port, which {@link TelemetryHandle.metricsUrl} shows.
   * Default: `OTEL_EXPORTER_PROMETHEUS_PORT`, else 9464.
   */
  readonly port?: number | undefined;
  /** Path, beginning with `/`. Default `/metrics`. */
  readonly endpoint?: string | undefined;
  /**
   * Public names by which the endpoint may be asked, such as `agents.example.com`. Addresses, names without a dot, and names that end
   * in `.local`, `.localhost`, `.internal` or `.svc` are always allowed. A request for another name gets 403, because a web page could
   * read the metrics by a name of its own. Default: none.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** Options of {@link startTelemetry}. Options that you leave out are read from the `OTEL_` variables. */
export interface TelemetryOptions {
  /** `service.name`. Default: `OTEL_SERVICE_NAME`, else `unknown_service:node`. */
  readonly serviceName?: string | undefined;
  /** `service.version`. Default: the one in `OTEL_RESOURCE_ATTRIBUTES`, else none. */
  readonly serviceVersion?: string | undefined;
  /**
   * The scrape endpoint: `false` turns it off, an object sets it up. Both take precedence over `OTEL_METRICS_EXPORTER`.
   * Default: an endpoint, unless `OTEL_METRICS_EXPORTER` is set and doesn't name `prometheus`.
   */
  readonly prometheus?: false | PrometheusOptions | undefined;
}

/** The address of the scrape endpoint, with every default filled in. */
export interface ScrapeAddress {
  readonly host: string;
  readonly port: number;
  readonly endpoint: string;
  /** In lower case. */
  readonly allowedHosts?: readonly string[];
}

const DEFAULT_ADDRESS: ScrapeAddress = { host: '127.0.0.1', port: 9464, endpoint: '/metrics' };
const MAX_PORT = 65_535;

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isPath = (value: unknown): boolean => typeof value === 'string' && /^\/[^?#\s]*$/.test(value);
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isPort = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_PORT;

const describe = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'an object';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
};

const unknownKeys = (value: object, known: readonly string[], prefix: string): ConfigIssue[] =>
  Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      path: prefix + key,
      message: `is not an option. Correct its name or remove it. The options are ${known.join(', ')}.`,
    }));

const check = (path: string, value: unknown, fits: (value: unknown) => boolean, complaint: string): ConfigIssue[] =>
  value === undefined || fits(value) ? [] : [{ path, message: `is ${describe(value)}${complaint}` }];

const checkText = (path: string, value: unknown, fix: string): ConfigIssue[] =>
  check(path, value, isText, `, but it must be a non-empty string. ${fix}`);

function prometheusIssues(value: unknown): ConfigIssue[] {
  if (!isObject(value)) {
    const complaint = `. Write false for no scrape endpoint, an object such as { port: 9465 } to set it up, or leave it out for 127.0.0.1:9464.`;
    return check('prometheus', value, (one) => one === false, complaint);
  }
  const { host, port, endpoint, allowedHosts } = value as Record<keyof PrometheusOptions, unknown>;
  const badPort = `, which is not a port. Write a whole number from 1 to ${MAX_PORT}, 0 for any free port, or leave it out for 9464.`;
  const badPath = `, which no request can match. Write a path that begins with / and has no query, such as /metrics.`;
  const badNames = `, which is not a list of names. Write names without port, such as ['agents.example.com'], or leave it out.`;
  return [
    ...unknownKeys(value, ['host', 'port', 'endpoint', 'allowedHosts'], 'prometheus.'),
    ...checkText(
      'prometheus.host',
      host,
      'Leave it out for 127.0.0.1, or write 0.0.0.0 to listen on all network interfaces.',
    ),
    ...check('prometheus.port', port, isPort, badPort),
    ...check('prometheus.endpoint', endpoint, isPath, badPath),
    ...check('prometheus.allowedHosts', allowedHosts, isNames, badNames),
  ];
}

/**
 * Refuses options that can't work.
 *
 * @throws BreakerboxConfigError naming every option that is wrong, why, and what to write instead.
 */
export function assertValidOptions(options: unknown): asserts options is TelemetryOptions {
  if (!isObject(options)) {
    const message = `are ${describe(options)}. Write an object such as { serviceName: 'research-agent' }, or nothing.`;
    throw new BreakerboxConfigError([{ path: 'the options of startTelemetry()', message }]);
  }
  const { serviceName, serviceVersion, prometheus } = options as Record<keyof TelemetryOptions, unknown>;
  const issues = [
    ...unknownKeys(options, ['serviceName', 'serviceVersion', 'prometheus'], ''),
    ...checkText('serviceName', serviceName, 'Leave it out to take OTEL_SERVICE_NAME.'),
    ...checkText('serviceVersion', serviceVersion, 'It may be left out.'),
    ...prometheusIssues(prometheus),
  ];
  if (issues.length > 0) throw new BreakerboxConfigError(issues);
}

/** A bad variable is logged and ignored, as OpenTelemetry's specification asks: a deployment must not crash the agent. */
function portFromEnvironment(env: Environment): number | undefined {
  const text = envValue(env, 'OTEL_EXPORTER_PROMETHEUS_PORT');
  if (text === undefined) return undefined;
  if (isPort(Number(text))) return Number(text);
  log(
    'warn',
    `OTEL_EXPORTER_PROMETHEUS_PORT is ${JSON.stringify(text)}, which is not a port, so ${DEFAULT_ADDRESS.port} is used. Set it to a whole number from 0 (any free port) to ${MAX_PORT}.`,
  );
  return undefined;
}

/** The address. Options in code take precedence over the environment, and the environment over the defaults. */
export function scrapeAddress(options: PrometheusOptions, env: Environment): ScrapeAddress {
  return {
    host: options.host ?? envValue(env, 'OTEL_EXPORTER_PROMETHEUS_HOST') ?? DEFAULT_ADDRESS.host,
    port: options.port ?? portFromEnvironment(env) ?? DEFAULT_ADDRESS.port,
    endpoint: options.endpoint ?? DEFAULT_ADDRESS.endpoint,
    ...(options.allowedHosts && { allowedHosts: options.allowedHosts.map((name) => name.toLowerCase()) }),
  };
}
