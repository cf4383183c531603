import { Command } from 'commander';
import { type CommandIo, processIo } from './command-io.ts';

/** The command had a demo before it became light. For one release, it says where the demo is now. */
export const demoCommand = (io: CommandIo = processIo): Command =>
  new Command('demo')
    .description('Say where the demo is.')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      io.err(
        'The demo is in the repository: git clone https://github.com/breakerbox/breakerbox && cd breakerbox && npm run demo\n',
      );
      io.exitWith(1);
    });
