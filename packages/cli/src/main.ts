#!/usr/bin/env node
import { Command } from 'commander';
import { bundleCommand } from './bundle/command.ts';
import { capabilitiesCommand } from './capabilities/command.ts';
import { demoCommand } from './demo/command.ts';

await new Command('breakerbox')
  .description('Circuit breakers for the tools that AI agents call')
  .addCommand(demoCommand())
  .addCommand(capabilitiesCommand())
  .addCommand(bundleCommand())
  .showHelpAfterError('(--help lists what there is)')
  .parseAsync();
