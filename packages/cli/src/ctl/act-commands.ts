import { type ActionResponse, type ControlError, checkedAction, perform } from '@breakerbox/control/client';
import { documentOf } from '../command-io.ts';
import { printable } from '../plain-table.ts';
import { CODES, type Invocation, reachable } from './ctl-flags.ts';
import { sessionNamed } from './look-commands.ts';
import { type Found, look } from './targets.ts';

/** Finds the process of a session, and what the caller has not named: the cycle or event that it has now. */
export const onFoundSession = async (
  action: 'resume' | 'confirm',
  id: string,
  invocation: Invocation,
): Promise<void> => {
  const { flags } = invocation;
  const found = await look(reachable(invocation));
  const one = sessionNamed(id, found, flags);
  if (one === undefined)
    return report(invocation, [{ result: 'unknown', message: `No agent has a live session ${id}.` }], found);
  const { session, agent, target } = one;
  const event = flags.event ?? session.event?.id;
  if (action === 'confirm' && event === undefined)
    return report(
      invocation,
      [{ result: 'stale', message: `Session ${id} has no correlated failure that lasts.` }],
      found,
    );
  const request =
    action === 'resume'
      ? { action, agent, session: id, cycle: flags.cycle ?? session.budget.cycle }
      : { action, agent, session: id, event };
  report(invocation, [await perform(target, checkedAction(request))], found);
};

/** Asks each process that has the agent. */
export const everywhere = async (given: object, invocation: Invocation): Promise<void> => {
  const request = checkedAction(given);
  const found = await look(reachable(invocation));
  const having = found.filter(({ state }) => state?.boxes.some(({ agent }) => agent === request.agent));
  if (having.length === 0)
    return report(invocation, [{ result: 'unknown', message: `No process has an agent ${request.agent}.` }], found);
  const answers = await Promise.all(
    having.map(({ target }) =>
      perform(target, request).catch((error: ControlError) => ({ result: 'failed' as const, message: error.message })),
    ),
  );
  report(invocation, answers, found);
};

type Answer = Pick<ActionResponse, 'message'> & { readonly result: ActionResponse['result'] | 'failed' };

/** Says what was asked and where it took effect (A8). The exit code is 0 only if it took effect in every process that was found. */
const report = ({ io, flags }: Invocation, answers: readonly Answer[], found: readonly Found[]): void => {
  const done = answers.filter(({ result }) => result === 'done').length;
  const silent = found.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const worst = (['failed', 'unknown', 'stale'] as const).find((one) => answers.some(({ result }) => result === one));
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
    io.out(`${printable([...new Set(answers.map(({ message }) => message))].join('\n'))}\n`);
    if (answers.length > 1 || silent.length > 0)
      io.out(`Applied by ${done} of ${answers.length + silent.length} processes.\n`);
    for (const error of silent) io.err(`${error}\n`);
  }
  if (worst !== undefined) io.exitWith(worst === 'failed' ? 1 : CODES[worst]);
  else if (silent.length > 0) io.exitWith(1);
};
