import { startConsole } from '@breakerbox/control/console';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type CommandIo, processIo } from '../command-io.ts';
import { type TargetFlags, targetsOf } from './targets.ts';

interface ConsoleFlags extends TargetFlags {
  readonly host: string;
  readonly port: number;
  readonly name?: readonly string[];
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

interface Seams {
  /** When the command ends. Default: at SIGINT or SIGTERM. */
  readonly ended?: () => Promise<void>;
  /** The folder of the built page. */
  readonly page?: string;
}

/** `breakerbox console` (A8). */
export const consoleCommand = (
  io: CommandIo = processIo,
  env: NodeJS.ProcessEnv = process.env,
  { ended = signalled, page }: Seams = {},
): Command =>
  new Command('console')
    .description('Serve a web page on which you see running agents and act on them.')
    .addOption(
      new Option(
        '--endpoint <url...>',
        'unix:PATH or http(s)://HOST:PORT; default: BREAKERBOX_CONTROL, else all sockets of this user',
      ),
    )
    .option('--token <token>', 'for http(s) endpoints; default: BREAKERBOX_CONTROL_TOKEN')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port to listen on; 0 is any free port', portOf, 0)
    .option('--name <host...>', 'more host names that browsers use for this page, such as that of a proxy')
    .showHelpAfterError('(see breakerbox console --help)')
    .action(async ({ host, port, name, ...flags }: ConsoleFlags) => {
      try {
        const { url, close } = await startConsole({
          targets: () => targetsOf(flags, env),
          host,
          port,
          hosts: name,
          page,
        });
        io.out(
          `Open this link. It signs in one browser, once, within 10 minutes. Run the command again for a new one.\n\n  ${url}\n\nCtrl+C ends the console.\n`,
        );
        await ended();
        await close();
      } catch (error) {
        io.err(`breakerbox console: ${error instanceof Error ? error.message : error}\n`);
        io.exitWith(1);
      }
    });
