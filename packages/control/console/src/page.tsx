import { useCallback, useMemo, useState } from 'preact/hooks';
import { ActionDialog } from './action-dialog.tsx';
import { AgentCard } from './agent-card.tsx';
import { LinkContext, missing, useDeepLink } from './deep-link.ts';
import { overview } from './overview.ts';
import type { Intent } from './plans.ts';
import { Summary } from './summary.tsx';
import { useConsole } from './use-console.ts';
import { list, processName } from './words.ts';

/** The console (A8). */
export const Page = () => {
  const { state, changes, signedOut, lost, refresh } = useConsole();
  const link = useDeepLink();
  const [intent, setIntent] = useState<Intent>();
  const agents = useMemo(() => (state === undefined ? [] : overview(state, changes)), [state, changes]);
  const close = useCallback(() => setIntent(undefined), []);
  const missed = state === undefined ? undefined : missing(link, agents);
  const endpoints = state?.endpoints ?? [];
  const ended = endpoints.filter(({ status }) => status === 'ended');
  const unknown = endpoints.filter((one) => one.state === undefined && !ended.includes(one));

  if (signedOut !== undefined) return <SignedOutPage message={signedOut} />;
  return (
    <LinkContext.Provider value={link}>
      <Summary agents={agents} state={state} lost={lost} />
      <main>
        {missed !== undefined && (
          <p class="notice warn" role="status">
            No process has what the link names: {missed}. It may have ended, or its process may not answer.
          </p>
        )}
        {unknown.length > 0 && (
          <p class="notice warn">
            {unknown.length === 1 ? 'An endpoint has' : `${unknown.length} endpoints have`} not reported a state yet:{' '}
            {unknown.map((one) => one.error ?? processName(one)).join(', ')}
          </p>
        )}
        {state !== undefined && agents.length === 0 && unknown.length === 0 && (
          <p class="notice">
            No agent with a control API was found. Call <code>startControl({'{ boxes }'})</code> in the agent. This page
            looks again every 10 seconds.
            {ended.length > 0 && ` No process listens on ${list(ended.map(({ id }) => id))}.`}
          </p>
        )}
        {agents.map((agent) => (
          <AgentCard key={agent.name} agent={agent} act={setIntent} />
        ))}
      </main>
      {intent !== undefined && <ActionDialog intent={intent} agents={agents} onActed={refresh} onClose={close} />}
    </LinkContext.Provider>
  );
};

const SignedOutPage = ({ message }: { readonly message: string }) => (
  <main class="signed-out">
    <h1>Breakerbox console</h1>
    <p role="alert">{message}</p>
    <p>
      On the machine of the agents, run <code>breakerbox console</code> and open the link that it prints. If it runs
      already, its first lines say how to get another link. Each link signs in one browser, once.
    </p>
  </main>
);
