#!/usr/bin/env node
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { mcpCommand } from './mcp/mcp-command.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

// A relay runs for days beside each MCP server. It loads no other command, so that it takes little memory (M10).
const commands = process.argv[2] === 'mcp' ? [mcpCommand()] : (await import('./all-commands.ts')).allCommands();

const program = new Command('breakerbox')
  .description('Circuit breakers for the tools that AI agents call')
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError('(see --help)');
for (const command of commands) program.addCommand(command);
await program.parseAsync();
