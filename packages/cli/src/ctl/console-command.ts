import { startConsole } from '@breakerbox/control/console';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type CommandIo, processIo } from '../command-io.ts';
import { type TargetFlags, targetsOf } from './targets.ts';

interface ConsoleFlags extends TargetFlags {
  readonly host: string;
  readonly port: number;
  readonly name?: readonly string[];
  readonly behindProxy: boolean;
}

const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Write a number from 0 to 65535.');
};

const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });

/** Calls `listener` for each SIGUSR2, until the returned function is called. Not for a key: reading would stop a job in the background. */
const onWish = (listener: () => void): (() => void) => {
  process.on('SIGUSR2', listener);
  return () => void process.off('SIGUSR2', listener);
};

interface Seams {
  /** When the command ends. Default: at SIGINT or SIGTERM. */
  readonly ended?: () => Promise<void>;
  /** When another link is wanted. Default: at SIGUSR2. */
  readonly wished?: (listener: () => void) => () => void;
  /** The folder of the built page. */
  readonly page?: string;
}

/** `breakerbox console` (A8). */
export const consoleCommand = (
  io: CommandIo = processIo,
  env: NodeJS.ProcessEnv = process.env,
  { ended = signalled, wished = onWish, page }: Seams = {},
): Command =>
  new Command('console')
    .description('Serve a web page that shows running agents, and from which you can act on them.')
    .addOption(
      new Option(
        '--endpoint <url...>',
        'unix:PATH or http(s)://HOST:PORT; default: BREAKERBOX_CONTROL, else all sockets of this user',
      ),
    )
    .option('--token <token>', 'for http(s) endpoints; default: BREAKERBOX_CONTROL_TOKEN')
    .option('--plain-http', 'send the token unencrypted to http endpoints of other machines')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port to listen on; 0 is any free port', portOf, 0)
    .option('--name <host...>', 'more host names that browsers use for this page, such as that of a proxy')
    .option(
      '--behind-proxy',
      'allow a --host that other machines can reach, because a proxy in front terminates TLS',
      false,
    )
    .showHelpAfterError('(see breakerbox console --help)')
    .action(async ({ host, port, name, behindProxy, ...flags }: ConsoleFlags) => {
      try {
        const { url, newLink, close } = await startConsole({
          targets: () => targetsOf(flags, env),
          host,
          port,
          hosts: name,
          behindProxy,
          page,
        });
        io.out(
          `Open this link. It signs in one browser, once, within 10 minutes.\n\n  ${url}\n\nFor another link: kill -USR2 ${process.pid}. Ctrl+C ends the console.\n`,
        );
        const stop = wished(() => io.out(`\n  ${newLink()}\n`));
        await ended();
        stop();
        await close();
      } catch (error) {
        io.err(`breakerbox console: ${error instanceof Error ? error.message : error}\n`);
        io.exitWith(1);
      }
    });
