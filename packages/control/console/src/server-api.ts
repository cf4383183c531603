import type { ConsoleAction, ConsoleResult, ConsoleState } from '../../src/console/console-state.ts';

/** The browser is not signed in, or no longer. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

const send = async (path: string, init?: RequestInit): Promise<unknown> => {
  const response = await fetch(path, init);
  const body: unknown = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const { error = `The console answered ${response.status}.` } = body as { readonly error?: string };
  throw response.status === 401 ? new SignedOut(error) : new Error(error);
};

const post = (path: string, body: unknown): Promise<unknown> =>
  send(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

export const readState = async (): Promise<ConsoleState> => (await send('api/state')) as ConsoleState;

export const sendAction = async (action: ConsoleAction): Promise<ConsoleResult> =>
  (await post('api/actions', action)) as ConsoleResult;

/**
 * Uses the token of the link, if the address has one, and removes it from the address and the history.
 *
 * @throws SignedOut if the token is wrong, used or too old.
 */
export const signIn = async (): Promise<void> => {
  const link = new URLSearchParams(location.hash.slice(1));
  const token = link.get('token');
  if (token === null) return;
  link.delete('token');
  const rest = link.toString();
  history.replaceState(null, '', `${location.pathname}${rest === '' ? '' : `#${rest}`}`);
  await post('api/sign-in', { token });
};
