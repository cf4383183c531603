import { Command, InvalidArgumentError, Option } from 'commander';
import { terminalSafe } from '../../cli/src/command-io.ts';
import { AGENT_NAMES, type AgentName } from './agent-names.ts';
import type { DemoOptions } from './demo.ts';
import { parseDuration } from './duration.ts';
import { DemoError } from './errors.ts';
import { watchParent } from './parent-watch.ts';
import type { SharedDemoOptions } from './shared/shared-demo.ts';

/** Timers can't wait longer than 24.8 days. */
const LONGEST_MS = 20 * 86_400_000;
const MAX_PORT = 65_535;
const DEFAULT_PORT = 9464;
const DEFAULT_HOST = '127.0.0.1';
/** With this pace, a round of the script takes about two hours. */
const SLOWEST_PACE = 100;

interface Flags {
  readonly for?: number;
  readonly json: boolean;
  readonly stack: boolean;
  readonly host: string;
  readonly port: number;
  readonly color: boolean;
  readonly agent?: readonly AgentName[];
  readonly pace: number;
  readonly fleet: boolean;
  readonly redis?: string;
}

type Run<Options> = (options: Options) => Promise<void>;

// Agents and servers take a second to load, and no other command needs them.
const runAgents: Run<DemoOptions> = (options) =>
  runToTheEnd(async (...rest) => (await import('./demo.ts')).runDemo(options, ...rest));
const runShared: Run<SharedDemoOptions> = (options) =>
  runToTheEnd(async (...rest) => (await import('./shared/shared-demo.ts')).runSharedDemo(options, ...rest));

/** `npm run demo`, and with `--fleet` another demo. */
export const demoCommand = (run: Run<DemoOptions> = runAgents, runFleet: Run<SharedDemoOptions> = runShared): Command =>
  new Command('npm run demo --')
    .description(
      'Run agents with scripted models on real tools that fail, with Prometheus and Alertmanager if they are installed.',
    )
    .addOption(
      new Option(
        '--for <duration>',
        'stop after this time, such as 90s or 2m (default: run until it is stopped)',
      ).argParser(durationFlag),
    )
    .addOption(
      new Option(
        '--agent <name>',
        `only this agent and its incidents: ${AGENT_NAMES.join(', ')}; may be repeated (default: all)`,
      ).argParser(agentFlag),
    )
    .addOption(new Option('--pace <times>', 'run the script this many times slower').default(1).argParser(paceFlag))
    .addOption(
      new Option(
        '--fleet',
        'three processes that share the circuit of one tool through a real Redis, told line by line; needs redis-server',
      )
        .default(false)
        .conflicts('agent'),
    )
    .addOption(
      new Option('--redis <url>', 'with --fleet: the Redis to use, instead of one of its own')
        .argParser(redisFlag)
        .implies({ fleet: true }),
    )
    .option('--json', 'print one JSON document at the end instead of the view', false)
    .option('--no-stack', "don't run Prometheus and Alertmanager")
    .addOption(
      new Option('--host <address>', 'host on which /metrics listens')
        .default(DEFAULT_HOST)
        .env('OTEL_EXPORTER_PROMETHEUS_HOST'),
    )
    .addOption(
      new Option('--port <number>', 'port of /metrics; 0 takes any free port')
        .default(DEFAULT_PORT)
        .env('OTEL_EXPORTER_PROMETHEUS_PORT')
        .argParser(portFlag),
    )
    .option('--no-color', 'no colours in the view; NO_COLOR does the same')
    .showHelpAfterError('(see npm run demo -- --help)')
    .action((flags: Flags, command: Command) =>
      flags.fleet
        ? runFleet({ forMs: flags.for, json: flags.json, pace: flags.pace, redisUrl: flags.redis })
        : run({
            forMs: flags.for,
            json: flags.json,
            stack: flags.stack,
            host: flags.host || DEFAULT_HOST,
            port: flags.port,
            isPortWanted: command.getOptionValueSource('port') !== 'default',
            color: flags.color,
            names: AGENT_NAMES.filter((name) => flags.agent === undefined || flags.agent.includes(name)),
            pace: flags.pace,
          }),
    );

const redisFlag = (text: string): string => {
  if (/^rediss?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('Write an address such as redis://127.0.0.1:6379, or rediss:// for TLS.');
};

const durationFlag = (text: string): number => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= LONGEST_MS) return ms;
  throw new InvalidArgumentError(
    'Write a time such as 90s, 2m or 1h30m, of 20 days at most. Without --for the demo runs until it is stopped.',
  );
};

/** Adds one agent to the wanted agents. */
const agentFlag = (text: string, before: readonly AgentName[] = []): readonly AgentName[] => {
  const name = AGENT_NAMES.find((one) => one === text);
  if (name !== undefined) return [...before, name];
  throw new InvalidArgumentError(`Write one of ${AGENT_NAMES.join(', ')}. For two of them, write --agent twice.`);
};

const paceFlag = (text: string): number => {
  const pace = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (pace >= 1 && pace <= SLOWEST_PACE) return pace;
  throw new InvalidArgumentError(
    `Write a number from 1 (a round of 75 s) to ${SLOWEST_PACE}, such as 8 (a round of ten minutes).`,
  );
};

const portFlag = (text: string): number => {
  // An empty environment variable counts as not set.
  if (text === '') return DEFAULT_PORT;
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port <= MAX_PORT) return port;
  throw new InvalidArgumentError(`Write a whole number from 0 (any free port) to ${MAX_PORT}.`);
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** If something still keeps the process alive this long after the end, it exits anyway. */
const LINGER_MS = 2000;

/** Runs the demo in this process: until a signal. It restores the terminal and leaves nothing running. */
const runToTheEnd = async (
  run: (stop: AbortSignal, lastMoment: (action: () => void) => void) => Promise<void>,
): Promise<void> => {
  const stop = new AbortController();
  const lastActions: (() => void)[] = [];
  const inHaste = (): void => {
    for (const act of lastActions) act();
  };
  // A second signal ends the demo without a clean stop.
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('exit', inHaste);
  // Before Node prints the error. On the second screen the error would be lost.
  process.on('uncaughtExceptionMonitor', inHaste);
  // The reader of the output is gone (`| head`).
  process.stdout.on('error', () => stop.abort());
  // Nothing reads stderr any more. That must not stop the cleanup.
  process.stderr.on('error', () => undefined);
  watchParent(() => stop.abort(), process.env);
  try {
    await run(stop.signal, (action) => lastActions.push(action));
  } catch (error) {
    if (!(error instanceof DemoError)) throw error;
    process.stderr.write(terminalSafe(`breakerbox demo: ${error.message}\n`));
    process.exitCode = 1;
  }
  setTimeout(() => process.exit(), LINGER_MS).unref();
};
