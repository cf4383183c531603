import { createToken, readTokens, revokeToken } from '@breakerbox/control';
import { Command, Option } from 'commander';
import type { CommandIo } from '../command-io.ts';
import { onOneLine, plainTable } from '../plain-table.ts';
import { CODES } from './ctl-flags.ts';

/** `breakerbox ctl token` (A5). */
export const tokenCommand = (io: CommandIo): Command => {
  const orSay =
    <Args extends readonly unknown[]>(run: (...args: Args) => Promise<void>) =>
    async (...args: Args): Promise<void> => {
      try {
        await run(...args);
      } catch (error) {
        io.err(`breakerbox ctl: ${error instanceof Error ? error.message : error}\n`);
        io.exitWith(1);
      }
    };
  const token = new Command('token').description('create, list and revoke the tokens of a control API on a TCP port');
  const file = ['--file <path>', 'the file of tokens, which startControl reads as listen.tokens'] as const;
  token
    .command('create <name>')
    .description('print a new token, which cannot be shown again')
    .requiredOption(...file)
    .addOption(
      new Option('--role <role>', 'view: read only; operate: read and act')
        .choices(['view', 'operate'])
        .default('view'),
    )
    .action(
      orSay(async (name: string, flags: { file: string; role: 'view' | 'operate' }) => {
        io.out(`${await createToken(flags.file, name, flags.role)}\n`);
      }),
    );
  token
    .command('list')
    .description('names and roles')
    .requiredOption(...file)
    .action(
      orSay(async (flags: { file: string }) => {
        const tokens = await readTokens(flags.file);
        io.out(
          `${plainTable([['name', 'role', 'created'], ...tokens.map(({ name, role, createdAt }) => [onOneLine(name), role, onOneLine(createdAt)])], io.columns, false)}\n`,
        );
      }),
    );
  token
    .command('revoke <name>')
    .description('refuse a token from now on')
    .requiredOption(...file)
    .action(
      orSay(async (name: string, flags: { file: string }) => {
        if (await revokeToken(flags.file, name)) return io.out(`${name} is revoked.\n`);
        io.err(`breakerbox ctl: ${flags.file} has no token ${name}.\n`);
        io.exitWith(CODES.unknown);
      }),
    );
  return token;
};
