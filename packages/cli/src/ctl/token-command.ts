import { createToken, readTokens, revokeToken } from '@breakerbox/control';
import { Command, Option } from 'commander';
import type { CommandIo } from '../command-io.ts';
import { plainTable } from '../plain-table.ts';
import { CODES } from './ctl-flags.ts';

/** `breakerbox ctl token` (A5). */
export const tokenCommand = (io: CommandIo): Command => {
  const token = new Command('token').description('tokens of a control API on TCP');
  const file = ['--file <path>', 'the file of tokens that startControl reads'] as const;
  token
    .command('create <name>')
    .description('print a new token, which cannot be shown again')
    .requiredOption(...file)
    .addOption(new Option('--role <role>', 'what it permits').choices(['view', 'operate']).default('view'))
    .action(async (name: string, flags: { file: string; role: 'view' | 'operate' }) => {
      io.out(`${await createToken(flags.file, name, flags.role)}\n`);
    });
  token
    .command('list')
    .description('names and roles')
    .requiredOption(...file)
    .action(async (flags: { file: string }) => {
      const tokens = await readTokens(flags.file);
      io.out(
        `${plainTable([['name', 'role', 'created'], ...tokens.map(({ name, role, createdAt }) => [name, role, createdAt])], io.columns, false)}\n`,
      );
    });
  token
    .command('revoke <name>')
    .description('refuse a token from now on')
    .requiredOption(...file)
    .action(async (name: string, flags: { file: string }) => {
      if (await revokeToken(flags.file, name)) return io.out(`${name} is revoked.\n`);
      io.err(`breakerbox ctl: ${flags.file} has no token ${name}.\n`);
      io.exitWith(CODES.unknown);
    });
  return token;
};
