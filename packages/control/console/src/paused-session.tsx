import { CircuitChips } from './circuit-chips.tsx';
import { now } from './clock.ts';
import { placeOf, usePlace } from './deep-link.ts';
import { RunDetails } from './limit-list.tsx';
import { isSilent, type LiveSession } from './overview.ts';
import type { Intent } from './plans.ts';
import { chargeWords, clockTime, duration, list, pauseReason, pauseTitle, processName, suspectWords } from './words.ts';

interface PausedSessionProps {
  readonly live: LiveSession;
  act(intent: Intent): void;
}

/** The pause report of a session, and what an operator can do. */
export const PausedSession = ({ live, act }: PausedSessionProps) => {
  const { session, endpoint, canOperate, pausedUnixMs } = live;
  const { id, event, budget, step } = session;
  const place = usePlace<HTMLElement>(placeOf(live));
  const suspect = suspectWords(live);
  const charges = chargeWords(budget);
  return (
    <article class="paused" aria-label={`Session ${id}`} {...place}>
      <header>
        <h3>
          <span class="badge bad">Paused</span> {pauseTitle(live)}
        </h3>
        {pausedUnixMs !== undefined && <Since unixMs={pausedUnixMs} />}
      </header>
      <p>{pauseReason(live)}</p>
      <dl>
        <dt>Session</dt>
        <dd class="name">{id}</dd>
        {event !== undefined && (
          <>
            <dt>Tools</dt>
            <dd class="name">{list(event.tools)}</dd>
          </>
        )}
        {suspect !== undefined && (
          <>
            <dt>Suspect</dt>
            <dd>{suspect}</dd>
          </>
        )}
        <dt>Budget left</dt>
        <dd>
          <meter min={0} max={budget.limit} value={budget.remaining} aria-hidden="true" /> {budget.remaining} of{' '}
          {budget.limit} failures
        </dd>
        {charges !== undefined && (
          <>
            <dt>Used by</dt>
            <dd class="name">{charges}</dd>
          </>
        )}
        <dt>Where</dt>
        <dd>
          {processName(endpoint)}
          {isSilent(endpoint) && ' (does not answer)'}, step {step}, {duration(session.ageMs)} old
        </dd>
      </dl>
      <CircuitChips session={session} />
      <RunDetails live={live} act={act} />
      {canOperate && (
        <div class="actions left">
          {event !== undefined && (
            <button type="button" class="primary" onClick={() => act({ kind: 'confirm', sessions: [live] })}>
              Confirm recovery
            </button>
          )}
          {session.state === 'paused_budget' && (
            <button type="button" class="primary" onClick={() => act({ kind: 'resume', sessions: [live] })}>
              Resume
            </button>
          )}
        </div>
      )}
    </article>
  );
};

const Since = ({ unixMs }: { readonly unixMs: number }) => {
  const at = new Date(unixMs);
  return (
    <p class="muted">
      since <time dateTime={at.toISOString()}>{clockTime(unixMs)}</time> ({duration(now() - unixMs)})
    </p>
  );
};
