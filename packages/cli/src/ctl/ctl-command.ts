import { createToken, readTokens, revokeToken } from '@breakerbox/control';
import {
  type ActionRequest,
  type ActionResponse,
  ActionSchema,
  type ControlError,
  perform,
} from '@breakerbox/control/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type CommandIo, documentOf, processIo } from '../command-io.ts';
import { plainTable } from '../plain-table.ts';
import { listText } from './ctl-text.ts';
import { type Found, look, type TargetFlags, targetsOf } from './targets.ts';

/** For scripts: 1 for what failed, 3 for what is stale, 4 for what does not exist. commander's own errors are 1. */
const CODES = { done: 0, stale: 3, unknown: 4 } as const;

interface Flags extends TargetFlags {
  readonly json?: boolean;
  readonly agent?: string;
  readonly session?: string;
  readonly cycle?: number;
  readonly event?: string;
  readonly reason?: string;
  readonly for?: number;
  readonly owner?: string;
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const milliseconds = (text: string): number => {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('Write a number and a unit: 30m, 2h or 1d.');
  return Number(count) * UNITS[unit as keyof typeof UNITS];
};

/** `breakerbox ctl` (A7). */
export const ctlCommand = (io: CommandIo = processIo, env: NodeJS.ProcessEnv = process.env): Command => {
  const ctl = new Command('ctl')
    .description('Look at running agents, and act on them: sessions, circuits, forced modes.')
    .showHelpAfterError('(see breakerbox ctl --help)');
  const add = (name: string, description: string, run: (flags: Flags, ...args: string[]) => Promise<void>): Command =>
    ctl
      .command(name)
      .description(description)
      .addOption(
        new Option(
          '--endpoint <url...>',
          'unix:PATH or http(s)://HOST:PORT; default: BREAKERBOX_CONTROL, else all sockets of this user',
        ),
      )
      .option('--token <token>', 'for http(s); default: BREAKERBOX_CONTROL_TOKEN')
      .option('--json', 'print one JSON document', false)
      .action(async (...args: unknown[]) => {
        const command = args.pop() as Command;
        const flags = args.pop() as Flags;
        try {
          await run(flags, ...(args as string[]));
        } catch (error) {
          io.err(`breakerbox ctl: ${error instanceof Error ? error.message : error}\n`);
          io.exitWith(1);
        }
        void command;
      });

  add('list', 'sessions, paused ones first, and forced modes', async (flags) => {
    const found = await look(reachable(flags, env));
    io.out(
      flags.json
        ? documentOf(found.map(({ target, ...rest }) => ({ endpoint: target.url, ...rest })))
        : listText(found, io.columns),
    );
    if (found.every(({ error }) => error !== undefined)) io.exitWith(1);
  });
  const onSession = (name: 'resume' | 'confirm', description: string) =>
    add(`${name} <session>`, description, (flags, session) => onFoundSession(name, session, flags, io, env))
      .option('--agent <name>', 'the agent, if several have a session of this id')
      .option(
        ...(name === 'resume'
          ? (['--cycle <number>', 'the budget cycle that you have seen', Number] as const)
          : (['--event <id>', 'the event that you have seen'] as never)),
      );
  onSession('resume', 'give a paused session a full budget again');
  onSession('confirm', 'confirm that a correlated failure is over');
  for (const [name, action, description] of [
    ['force-open', 'force_open', 'skip every call of a tool'],
    ['disable', 'disable', 'let every call of a tool pass, without counting it'],
    ['observe', 'observe', 'let every call of a tool pass, and count what would have been decided'],
  ] as const) {
    add(`${name} <agent> <tool>`, description, (flags, agent, tool) =>
      everywhere(
        { action, agent, tool, reason: flags.reason, session: flags.session, expiresInMs: flags.for },
        flags,
        io,
        env,
      ),
    )
      .requiredOption('--reason <text>', 'why, for other operators')
      .option('--for <duration>', 'how long, such as 30m or 2h; default 1h, at most 7d', milliseconds)
      .option('--session <id>', 'only this session; default: all, later ones too');
  }
  add('release <agent> <tool>', 'end a forced mode: the circuit is what it was before', (flags, agent, tool) =>
    everywhere({ action: 'release', agent, tool, session: flags.session, owner: flags.owner }, flags, io, env),
  )
    .option('--session <id>', 'the session that the mode was for')
    .option('--owner <name>', 'whose mode; default: your own');
  ctl.addCommand(tokenCommand(io));
  return ctl;
};

const reachable = (flags: Flags, env: NodeJS.ProcessEnv) => {
  const targets = targetsOf(flags, env);
  if (targets.length > 0) return targets;
  throw new Error(
    'no agent with a control API was found. Call startControl({ boxes }) of @breakerbox/control in the agent, or name one with --endpoint.',
  );
};

/** Finds the process of a session, and what the caller has not named: the cycle or event that it has now. */
const onFoundSession = async (
  action: 'resume' | 'confirm',
  id: string,
  flags: Flags,
  io: CommandIo,
  env: NodeJS.ProcessEnv,
) => {
  const found = await look(reachable(flags, env));
  const matches = found.flatMap(({ target, state }) =>
    (state?.boxes ?? []).flatMap(({ agent, sessions }) =>
      sessions
        .filter((one) => one.id === id && (flags.agent ?? agent) === agent)
        .map((session) => ({ target, agent, session })),
    ),
  );
  const [first] = matches;
  if (first === undefined)
    return report(io, flags, [{ result: 'unknown', message: `No agent has a live session ${id}.` }], found);
  if (new Set(matches.map(({ agent }) => agent)).size > 1)
    throw new Error(
      `several agents have a session ${id}: ${matches.map(({ agent }) => agent).join(', ')}. Name one with --agent.`,
    );
  const { session, agent, target } = first;
  const event = flags.event ?? session.event?.id;
  if (action === 'confirm' && event === undefined)
    return report(
      io,
      flags,
      [{ result: 'stale', message: `Session ${id} has no correlated failure that lasts.` }],
      found,
    );
  const request =
    action === 'resume'
      ? { action, agent, session: id, cycle: flags.cycle ?? session.budget.cycle }
      : { action, agent, session: id, event };
  report(io, flags, [await perform(target, ActionSchema.parse(request))], found);
};

/** Asks each process that has the agent. */
const everywhere = async (given: object, flags: Flags, io: CommandIo, env: NodeJS.ProcessEnv) => {
  const request: ActionRequest = ActionSchema.parse(given);
  const found = await look(reachable(flags, env));
  const having = found.filter(({ state }) => state?.boxes.some(({ agent }) => agent === request.agent));
  if (having.length === 0)
    return report(io, flags, [{ result: 'unknown', message: `No process has an agent ${request.agent}.` }], found);
  const answers = await Promise.all(
    having.map(({ target }) =>
      perform(target, request).catch((error: ControlError) => ({ result: 'failed' as const, message: error.message })),
    ),
  );
  report(io, flags, answers, found);
};

type Answer = Pick<ActionResponse, 'message'> & { readonly result: ActionResponse['result'] | 'failed' };

/** Says what was asked and where it took effect (A8). The exit code is 0 only if it took effect in every process that was found. */
const report = (io: CommandIo, flags: Flags, answers: readonly Answer[], found: readonly Found[]): void => {
  const done = answers.filter(({ result }) => result === 'done').length;
  const silent = found.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const [worst] = answers.filter(({ result }) => result !== 'done');
  if (flags.json)
    io.out(
      documentOf({
        applied: done,
        of: answers.length,
        answers: answers.map(({ result, message }) => ({ result, message })),
        unreachable: silent,
      }),
    );
  else {
    io.out(`${[...new Set(answers.map(({ message }) => message))].join('\n')}\n`);
    if (answers.length > 1 || silent.length > 0)
      io.out(`Applied by ${done} of ${answers.length + silent.length} processes.\n`);
    for (const error of silent) io.err(`${error}\n`);
  }
  if (worst !== undefined) io.exitWith(worst.result === 'failed' ? 1 : CODES[worst.result]);
  else if (silent.length > 0) io.exitWith(1);
};

const tokenCommand = (io: CommandIo): Command => {
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
