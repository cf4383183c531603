import { useContext } from 'preact/hooks';
import { CircuitChips } from './circuit-chips.tsx';
import { LinkContext, names, placeOf, usePlace } from './deep-link.ts';
import { Folded } from './folded.tsx';
import { RunDetails } from './limit-list.tsx';
import { isOfModels, type LiveSession } from './overview.ts';
import type { Intent } from './plans.ts';
import { duration, processName } from './words.ts';

interface SessionGroupProps {
  readonly title: string;
  readonly sessions: readonly LiveSession[];
  readonly isOpen: boolean;
  readonly leftOut?: number;
  act(intent: Intent): void;
}

/** Sessions that are not paused. */
export const SessionGroup = ({ title, sessions, isOpen, leftOut = 0, act }: SessionGroupProps) => {
  const link = useContext(LinkContext);
  if (sessions.length + leftOut === 0) return null;
  return (
    <Folded
      title={`${title} (${sessions.length + leftOut})`}
      isOpen={isOpen || sessions.some((one) => names(link, placeOf(one)))}
    >
      {() => (
        <ul class="sessions">
          {sessions.map((one) => (
            <SessionRow key={`${one.endpoint.id} ${one.session.id}`} live={one} act={act} />
          ))}
          {leftOut > 0 && <li class="muted">and {leftOut} more, which are not listed because there are too many</li>}
        </ul>
      )}
    </Folded>
  );
};

const SessionRow = ({ live, act }: { readonly live: LiveSession; act(intent: Intent): void }) => {
  const { session, endpoint } = live;
  const { budget } = session;
  const place = usePlace<HTMLLIElement>(placeOf(live));
  return (
    <li {...place}>
      <span class="name">{session.id}</span>
      <span class="muted">
        {isOfModels(live)
          ? 'circuits of models'
          : `${budget.remaining} of ${budget.limit} failures left, step ${session.step}`}
        , {duration(session.ageMs)} old, {processName(endpoint)}
      </span>
      <CircuitChips session={session} />
      <RunDetails live={live} act={act} />
    </li>
  );
};
