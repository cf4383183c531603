import { useContext, useState } from 'preact/hooks';
import { CircuitChips } from './circuit-chips.tsx';
import { LinkContext, names, usePlace } from './deep-link.ts';
import type { LiveSession } from './overview.ts';
import { duration, processName } from './words.ts';

interface SessionGroupProps {
  readonly title: string;
  readonly sessions: readonly LiveSession[];
  readonly isOpen: boolean;
  readonly leftOut?: number;
}

const placeOf = ({ agent, session }: LiveSession) => ({ agent, session: session.id, event: session.event?.id });

/** Sessions that need nothing. Closed, the list is only its title. */
export const SessionGroup = ({ title, sessions, isOpen, leftOut = 0 }: SessionGroupProps) => {
  const link = useContext(LinkContext);
  const [chosen, setChosen] = useState<boolean>();
  const shown = chosen ?? (isOpen || sessions.some((one) => names(link, placeOf(one))));
  if (sessions.length + leftOut === 0) return null;
  return (
    <details open={shown} onToggle={({ currentTarget: { open } }) => open !== shown && setChosen(open)}>
      <summary>
        {title} ({sessions.length + leftOut})
      </summary>
      {shown && (
        <ul class="sessions">
          {sessions.map((one) => (
            <SessionRow key={`${one.endpoint.id} ${one.session.id}`} live={one} />
          ))}
          {leftOut > 0 && <li class="muted">and {leftOut} more, which the processes do not list</li>}
        </ul>
      )}
    </details>
  );
};

const SessionRow = ({ live }: { readonly live: LiveSession }) => {
  const { session, endpoint } = live;
  const { budget } = session;
  const place = usePlace<HTMLLIElement>(placeOf(live));
  return (
    <li {...place}>
      <span class="name">{session.id}</span>
      <span class="muted">
        {budget.remaining} of {budget.limit} failures left, step {session.step}, {duration(session.ageMs)} old,{' '}
        {processName(endpoint)}
      </span>
      <CircuitChips session={session} />
    </li>
  );
};
