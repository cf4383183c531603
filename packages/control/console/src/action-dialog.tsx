import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConsoleResult } from '../../src/console/console-state.ts';
import { ActionResult } from './action-result.tsx';
import type { AgentOverview } from './overview.ts';
import { type Details, type Intent, type Plan, planOf } from './plans.ts';
import { sendAction } from './server-api.ts';

const MINUTE_MS = 60_000;
const EXPIRIES = [
  ['15 minutes', 15 * MINUTE_MS],
  ['1 hour', 60 * MINUTE_MS],
  ['4 hours', 240 * MINUTE_MS],
  ['1 day', 24 * 60 * MINUTE_MS],
  ['7 days', 7 * 24 * 60 * MINUTE_MS],
] as const;
const HOUR_MS = EXPIRIES[1][1];

type Progress =
  | { readonly at: 'form' }
  | { readonly at: 'sent'; readonly done: number; readonly of: number }
  | { readonly at: 'answered'; readonly results: readonly ConsoleResult[] }
  | { readonly at: 'failed'; readonly message: string };

interface ActionDialogProps {
  readonly intent: Intent;
  /** As they are now, for what a stale request finds. */
  readonly agents: readonly AgentOverview[];
  /** Reads the state after the action. */
  onActed(): Promise<void>;
  onClose(): void;
}

/** Says what will happen, asks for what the API needs, and shows where the action took effect. */
export const ActionDialog = ({ intent, agents, onActed, onClose }: ActionDialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [progress, setProgress] = useState<Progress>({ at: 'form' });
  const plan = planOf(intent);
  useEffect(() => dialog.current?.showModal(), []);

  const submit = async (details: Details): Promise<void> => {
    try {
      const actions = plan.actions(details);
      const results: ConsoleResult[] = [];
      for (const action of actions) {
        setProgress({ at: 'sent', done: results.length, of: actions.length });
        results.push(await sendAction(action));
      }
      await onActed();
      setProgress({ at: 'answered', results });
    } catch (error) {
      setProgress({ at: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
  };

  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{plan.title}</h2>
      {progress.at === 'form' && (
        <ActionForm plan={plan} intent={intent} onSubmit={submit} onCancel={() => dialog.current?.close()} />
      )}
      {progress.at !== 'form' && (
        <div class="outcome" role="status">
          {progress.at === 'sent' && <Sent done={progress.done} of={progress.of} />}
          {progress.at === 'failed' && <p class="notice bad">{progress.message}</p>}
          {progress.at === 'answered' && <ActionResult intent={intent} results={progress.results} agents={agents} />}
        </div>
      )}
      {(progress.at === 'answered' || progress.at === 'failed') && (
        <div class="actions">
          <button type="button" class="primary" ref={focus} onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
      )}
    </dialog>
  );
};

const Sent = ({ done, of }: { readonly done: number; readonly of: number }) => (
  <p>{of === 1 ? 'Request sent. Waiting for the answer…' : `Answered for ${done} of ${of} sessions…`}</p>
);

const focus = (button: HTMLButtonElement | null): void => button?.focus();

interface ActionFormProps {
  readonly plan: Plan;
  readonly intent: Intent;
  onSubmit(details: Details): void;
  onCancel(): void;
}

const ActionForm = ({ plan, intent, onSubmit, onCancel }: ActionFormProps) => {
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => String(given.get(name) ?? '');
    onSubmit({
      reason: text('reason').trim(),
      expiresInMs: Number(text('expiry')),
      session: text('session'),
      amount: Number(text('amount')),
    });
  };
  return (
    <form onSubmit={send}>
      <ul class="effects">
        {plan.effects.map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
      {plan.asksWhy && 'tool' in intent && <WhyFields agent={intent.agent} />}
      {plan.amount !== undefined && (
        <label>
          {plan.amount.label}
          <input
            type="number"
            name="amount"
            required
            min={plan.amount.step}
            step={plan.amount.step}
            defaultValue={`${plan.amount.proposed}`}
          />
        </label>
      )}
      <div class="actions">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="primary">
          {plan.verb}
        </button>
      </div>
    </form>
  );
};

/** `required` alone takes blanks for a reason. */
const wantWords = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }): void =>
  currentTarget.setCustomValidity(currentTarget.value.trim() === '' ? 'Write a reason.' : '');

const WhyFields = ({ agent }: { readonly agent: AgentOverview }) => {
  const sessions = [...agent.paused, ...agent.troubled, ...agent.quiet];
  return (
    <>
      <label>
        Reason, for other operators
        <textarea name="reason" required maxLength={500} rows={2} onInput={wantWords} />
      </label>
      <label>
        Ends after
        <select name="expiry">
          {EXPIRIES.map(([words, ms]) => (
            <option key={ms} value={ms} selected={ms === HOUR_MS}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label>
        For
        <select name="session">
          <option value="">All sessions of {agent.name}, later ones too</option>
          {sessions.map(({ session: { id }, endpoint }) => (
            <option key={`${endpoint.id} ${id}`} value={id}>
              Only session {id}
            </option>
          ))}
        </select>
      </label>
    </>
  );
};
