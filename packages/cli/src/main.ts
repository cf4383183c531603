#!/usr/bin/env node
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { terminalSafe } from './command-io.ts';
import { mcpCommand } from './mcp/mcp-command.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

const commandsOf = async ([name, first = '']: readonly string[]): Promise<readonly Command[]> => {
  if (name !== 'mcp') return (await import('./all-commands.ts')).allCommands();
  // Behind `--` these are names of a server's command.
  if (['install', 'uninstall'].includes(first)) {
    const { mcpInstallCommand, processInstallHost } = await import('./mcp/install/install-command.ts');
    return [mcpInstallCommand(processInstallHost(version))];
  }
  // A relay runs for days beside each MCP server. It loads no other command, so that it takes little memory (M10).
  return [mcpCommand(undefined, version)];
};
const commands = await commandsOf(process.argv.slice(2));

/** An error about a flag repeats what was given. */
const escapeErrors = (command: Command): void => {
  command.configureOutput({ outputError: (text, write) => write(terminalSafe(text)) });
  for (const one of command.commands) escapeErrors(one);
};

const program = new Command('breakerbox')
  .description('Circuit breakers for the tools that AI agents call')
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError('(see --help)');
for (const command of commands) program.addCommand(command);
escapeErrors(program);
await program.parseAsync();
