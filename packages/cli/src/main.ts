#!/usr/bin/env node
import { Command } from 'commander';
import { capabilitiesCommand } from './capabilities/command.ts';
import { demoCommand } from './demo/command.ts';

await new Command('breakerbox')
  .description('Circuit breakers for the tools that AI agents call')
  .addCommand(demoCommand())
  .addCommand(capabilitiesCommand())
  .showHelpAfterError('(--help lists what there is)')
  .parseAsync();
