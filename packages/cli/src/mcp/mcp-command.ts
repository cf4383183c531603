import { Command } from 'commander';
import { type CommandIo, processIo } from '../command-io.ts';
import { callTimeouts, TIMEOUT_FLAG } from './call-timeouts.ts';
import { another, type HttpFlags, httpAddress, withHttpOptions } from './http-options.ts';
import { proxyOf } from './http-proxy.ts';
import { listenAddress } from './listen-address.ts';
import { createRelay } from './relay.ts';
import { createRelayBox } from './relay-box.ts';
import { CONFIG_FLAG, relaySettings } from './relay-config.ts';
import { processHost } from './relay-host.ts';
import { runRelay } from './relay-process.ts';
import { startRelayServices } from './relay-services.ts';
import { planServices, type ServiceFlags, withServiceOptions } from './service-flags.ts';

/** The options of `breakerbox mcp`. */
export interface RelayFlags extends HttpFlags, ServiceFlags {
  readonly agent?: string;
  readonly callTimeout?: readonly string[];
  readonly config?: string;
  readonly name?: string;
  readonly observe?: boolean;
  readonly restart?: boolean;
}

/** Main runs them as commands of their own, so that a relay loads nothing of them. */
const INSTALL_HELP = `
Commands:
  breakerbox mcp install --client <client>    print or make the change to a client's configuration
  breakerbox mcp uninstall --client <client>  take it back`;

/** `breakerbox mcp` (M1). */
export const mcpCommand = (io: CommandIo = processIo, version = ''): Command =>
  withHttpOptions(withServiceOptions(new Command('mcp')))
    .description('Put circuit breakers in front of an MCP server, for any client and without code.')
    .usage('[options] -- <command> [args...]\n       breakerbox mcp [options] https://host/path')
    .argument(
      '<command>',
      'the command that starts the MCP server (stdio), with -- before it; or the address of a server (streamable HTTP)',
    )
    .argument('[args...]', 'its arguments')
    .option('--agent <name>', "the agent's name in telemetry and in breakerbox ctl; default: that of the file, or mcp")
    .option('--config <file>', CONFIG_FLAG)
    .option('--name <name>', "the server's name in texts and telemetry; default: the name that it gives itself")
    .option('--observe', 'reject no call, and count what would have been rejected', false)
    .option('--call-timeout <time>', TIMEOUT_FLAG, another)
    .option('--restart', 'start the server again if it ends before the client does; no effect for https://…', false)
    .passThroughOptions()
    .showHelpAfterError('(see breakerbox mcp --help)')
    .addHelpText('after', INSTALL_HELP)
    .action((command: string, args: string[], flags: RelayFlags) => run(command, args, flags, io, version));

const restartLine = (why: string, waitMs: number): string =>
  `breakerbox mcp: the MCP server has ended: ${why}. It is started again in ${waitMs / 1_000} s.\n`;

/**
 * What the options say, for a server. Starts nothing.
 *
 * @throws Error if the relay cannot start the server with them
 */
export const planRelay = async (
  command: string,
  args: readonly string[],
  flags: RelayFlags,
  env: NodeJS.ProcessEnv = process.env,
) => {
  const address = httpAddress(command, args, flags, env);
  const timeouts = callTimeouts(flags.callTimeout ?? []);
  const listen = flags.listen === undefined ? undefined : listenAddress(flags.listen);
  const services = planServices(flags, env);
  const { config, follow } = await relaySettings(flags, env);
  return { address, timeouts, listen, services, follow, relayBox: createRelayBox(config) };
};

const run = async (
  command: string,
  args: readonly string[],
  flags: RelayFlags,
  io: CommandIo,
  version: string,
): Promise<void> => {
  try {
    const { relayBox, address, timeouts, listen, follow, ...plan } = await planRelay(command, args, flags);
    const { box, session, ...rules } = relayBox;
    const services = startRelayServices(plan.services, relayBox, io);
    const host = processHost(follow(box, io), listen === undefined);
    const relay = createRelay({
      session,
      group: flags.name ?? 'mcp server',
      keepsGroup: flags.name !== undefined,
      ...rules,
      watchesAll: address !== undefined || flags.restart === true,
      timeouts: flags.observe ? undefined : timeouts,
    });
    if (address === undefined) {
      const { code, why } = await runRelay(command, args, relay, host, {
        onRestart: flags.restart ? (why, waitMs) => io.err(restartLine(why, waitMs)) : undefined,
      });
      if (code !== 0) io.err(`breakerbox mcp: the MCP server has ended: ${why}\n`);
      io.exitWith(code);
    } else {
      const { proxyEnv, problem } = proxyOf(address.url, process.env);
      if (problem !== undefined) io.err(`breakerbox mcp: ${problem}\n`);
      const onListening = (url: string) => io.err(`breakerbox mcp: connect the client to ${url}\n`);
      // Loads Node's HTTP, which takes a good part of the start of a relay that does not need it.
      const { runHttp } = await import('./http-serve.ts');
      const userAgent = `breakerbox/${version || 'mcp'}`;
      await runHttp({ ...address, proxyEnv, userAgent }, { relay, host, listen, onListening });
      io.exitWith(0);
    }
    await services.end(host.isStopped());
  } catch (error) {
    io.err(`breakerbox mcp: ${(error as Error).message}\n`);
    io.exitWith(2);
  }
};
