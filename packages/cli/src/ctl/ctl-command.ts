import type { OperatorAction } from '@breakerbox/core';
import { LIMIT_KINDS } from '@breakerbox/core/control';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type CommandIo, processIo } from '../command-io.ts';
import { printable } from '../plain-table.ts';
import { everywhere, onFoundSession, onLimit } from './act-commands.ts';
import type { Flags, Invocation } from './ctl-flags.ts';
import { list, show, watch } from './look-commands.ts';
import { tokenCommand } from './token-command.ts';

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const milliseconds = (text: string): number => {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * UNITS[unit as keyof typeof UNITS];
  if (ms > 0 && ms <= 7 * UNITS.d) return ms;
  throw new InvalidArgumentError('Write a number and a unit: 30m, 2h or 1d, at most 7d.');
};

const cycle = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write the number that breakerbox ctl show prints after --cycle.');
};

/** The control API allows no larger limit. */
const MOST_LIMIT = 2 ** 40;

const isLimit = (size: number): boolean => size > 0 && size <= MOST_LIMIT;

const size = (text: string): number => {
  if (/^\d{1,13}(?:\.\d{1,9})?$/.test(text) && isLimit(Number(text))) return Number(text);
  throw new InvalidArgumentError('Write the number that breakerbox ctl show prints after --size.');
};

/** `14000`, `2.50`; a limit of time may also be `30m`. @throws Error for what is no amount. */
const amountOf = (text: string, limit: string): number => {
  const [, number = '', unit] = /^(\d{1,300}(?:\.\d{1,9})?)([smhd]?)$/.exec(text) ?? [];
  const isTime = limit === 'durationMs';
  const by = Number(number) * (unit ? UNITS[unit as keyof typeof UNITS] : 1);
  const isMoney = limit === 'cost';
  if (isLimit(by) && (isTime || !unit) && (isMoney || Number.isInteger(by))) return by;
  const what = isMoney ? 'a number above 0' : 'a whole number above 0';
  const how = isTime ? 'milliseconds, or a time such as 30m or 2h' : `${what} without commas, such as 1000`;
  throw new Error(`the amount is '${text}'. To extend the limit ${limit}, write ${how}, and at most ${MOST_LIMIT}.`);
};

/** Each action that forces a mode is a command. A new action of core is a type error below: give it its words, or name it here. */
type ForceAction = Exclude<OperatorAction, 'resume' | 'confirm' | 'extend' | 'release'>;

const FORCES: Readonly<Record<ForceAction, string>> = {
  force_open: 'skip every call of a tool',
  disable: 'switch off the circuit of a tool: its calls pass unless the session is paused, and no failure counts',
  observe: 'let every call of a tool pass, even in a paused session, and count what would have been decided',
};

const stopped = (): AbortSignal => {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
};

/** `breakerbox ctl` (A7). */
export const ctlCommand = (given: CommandIo = processIo, env: NodeJS.ProcessEnv = process.env): Command => {
  // Names and errors come from endpoints.
  const io: CommandIo = { ...given, err: (text) => given.err(printable(text)) };
  const ctl = new Command('ctl')
    .description('Look at running agents, and act on them: sessions, circuits, forced modes.')
    .showHelpAfterError('(see breakerbox ctl --help)');
  const add = (
    name: string,
    description: string,
    run: (invocation: Invocation, ...args: string[]) => Promise<void>,
  ): Command =>
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
        args.pop(); // The command itself.
        const flags = args.pop() as Flags;
        try {
          await run({ flags, io, env }, ...(args as string[]));
        } catch (error) {
          io.err(`breakerbox ctl: ${error instanceof Error ? error.message : error}\n`);
          io.exitWith(1);
        }
      });

  add('list', 'print live sessions, paused ones first, and forced modes', list);
  add(
    'show <session>',
    'print why a session is paused, the health of its tools, and what to do',
    (invocation, session) => show(session, invocation),
  ).option('--agent <name>', 'the agent, if several have a session of this id');
  add('watch', 'print changes as they happen: circuits, pauses, correlated failures, actions', (invocation) =>
    watch(invocation, stopped()),
  );
  const onSession = (name: 'resume' | 'confirm', description: string) =>
    add(`${name} <session>`, description, (invocation, session) => onFoundSession(name, session, invocation))
      .option('--agent <name>', 'the agent, if several have a session of this id')
      .option(
        ...(name === 'resume'
          ? ([
              '--cycle <number>',
              'act only if the budget cycle is still this one, as breakerbox ctl show prints it; default: the current one',
              cycle,
            ] as const)
          : ([
              '--event <id>',
              'act only if the correlated failure is still this one, as breakerbox ctl show prints it; default: the current one',
            ] as never)),
      );
  onSession('resume', 'give a paused session a full budget again');
  onSession('confirm', 'confirm that a systemic (correlated) failure is over');
  add(
    'extend <session>',
    'make a limit of a session larger; this brings back a run that the limit pauses',
    (invocation, session, limit, by) => onLimit(session, limit, amountOf(by, limit), invocation),
  )
    .addArgument(new Argument('<limit>', 'which limit').choices(LIMIT_KINDS))
    .argument(
      '<amount>',
      'how much larger: calls, steps, tokens, money; for durationMs milliseconds, or a time such as 30m or 2h',
    )
    .option('--agent <name>', 'the agent, if several have a session of this id')
    .option(
      '--size <number>',
      'act only if the limit is still of this size, as breakerbox ctl show prints it; default: the current one',
      size,
    );
  for (const [action, description] of Object.entries(FORCES) as readonly [ForceAction, string][]) {
    add(`${action.replace('_', '-')} <agent> <tool>`, description, (invocation, agent, tool) => {
      const { reason, session, for: expiresInMs } = invocation.flags;
      return everywhere({ action, agent, tool, reason, session, expiresInMs }, invocation);
    })
      .requiredOption('--reason <text>', 'why, for other operators')
      .option('--for <duration>', 'how long, such as 30m or 2h; default 1h, at most 7d', milliseconds)
      .option('--session <id>', 'only this session; default: all, later ones too');
  }
  add(
    'release <agent> <tool>',
    'end a forced mode; the circuit returns to its earlier state',
    (invocation, agent, tool) => {
      const { session, owner, allOwners } = invocation.flags;
      return everywhere({ action: 'release', agent, tool, session, owner, allOwners }, invocation);
    },
  )
    .option('--session <id>', 'the session, if the mode was forced for one session; default: a mode for all sessions')
    .option('--owner <name>', 'the owner of the mode; default: you')
    .option('--all-owners', 'the modes of all owners');
  ctl.addCommand(tokenCommand(io));
  return ctl;
};
