import type { Command } from 'commander';
import { bundleCommand } from './bundle/bundle-command.ts';
import { capabilitiesCommand } from './capabilities/capabilities-command.ts';
import { checkCommand } from './check/check-command.ts';
import { classifyCommand } from './classify/classify-command.ts';
import { consoleCommand } from './ctl/console-command.ts';
import { ctlCommand } from './ctl/ctl-command.ts';
import { demoCommand } from './demo-command.ts';
import { mcpCommand } from './mcp/mcp-command.ts';
import { replayCommand } from './replay/replay-command.ts';

/** All commands, in the order of the help. */
export const allCommands = (): readonly Command[] => [
  capabilitiesCommand(),
  checkCommand(),
  bundleCommand(),
  classifyCommand(),
  replayCommand(),
  ctlCommand(),
  consoleCommand(),
  mcpCommand(),
  demoCommand(),
];
