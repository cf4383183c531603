#!/usr/bin/env node
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { bundleCommand } from './bundle/bundle-command.ts';
import { capabilitiesCommand } from './capabilities/capabilities-command.ts';
import { classifyCommand } from './classify/classify-command.ts';
import { consoleCommand } from './ctl/console-command.ts';
import { ctlCommand } from './ctl/ctl-command.ts';
import { demoCommand } from './demo/demo-command.ts';
import { replayCommand } from './replay/replay-command.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

await new Command('breakerbox')
  .description('Circuit breakers for the tools that AI agents call')
  .version(version)
  .addCommand(demoCommand())
  .addCommand(capabilitiesCommand())
  .addCommand(bundleCommand())
  .addCommand(classifyCommand())
  .addCommand(replayCommand())
  .addCommand(ctlCommand())
  .addCommand(consoleCommand())
  .showHelpAfterError('(see --help)')
  .parseAsync();
