import { useContext } from 'preact/hooks';
import { LinkContext, names, placeOf } from './deep-link.ts';
import { Folded } from './folded.tsx';
import type { LiveSession } from './overview.ts';
import { PausedSession } from './paused-session.tsx';
import type { AgentProps, Intent } from './plans.ts';

/** Pause reports that are shown at once: an outage may pause hundreds of sessions for one reason. */
const SHOWN = 10;

/** The paused sessions of an agent, those that have waited longest first. */
export const PausedGroup = ({ agent: { paused }, act }: AgentProps) => {
  const link = useContext(LinkContext);
  const [shown, rest] = [paused.slice(0, SHOWN), paused.slice(SHOWN)];
  const reports = (sessions: readonly LiveSession[]) =>
    sessions.map((one) => <PausedSession key={`${one.endpoint.id} ${one.session.id}`} live={one} act={act} />);
  return (
    <>
      <ForAll paused={paused} act={act} />
      {reports(shown)}
      {rest.length > 0 && (
        <Folded title={`More paused sessions (${rest.length})`} isOpen={rest.some((one) => names(link, placeOf(one)))}>
          {() => <div class="reports">{reports(rest)}</div>}
        </Folded>
      )}
    </>
  );
};

interface ForAllProps {
  readonly paused: readonly LiveSession[];
  act(intent: Intent): void;
}

/** Several sessions that wait for the same action. */
const ForAll = ({ paused, act }: ForAllProps) => {
  const able = paused.filter(({ canOperate }) => canOperate);
  const resumable = able.filter(({ session }) => session.state === 'paused_budget');
  const confirmable = able.filter(({ session }) => session.event !== undefined);
  if (resumable.length < 2 && confirmable.length < 2) return null;
  return (
    <div class="actions left">
      <AllButton kind="resume" words="Resume all" sessions={resumable} act={act} />
      <AllButton kind="confirm" words="Confirm recovery for all" sessions={confirmable} act={act} />
    </div>
  );
};

interface AllButtonProps {
  readonly kind: 'resume' | 'confirm';
  readonly words: string;
  readonly sessions: readonly LiveSession[];
  act(intent: Intent): void;
}

const AllButton = ({ kind, words, sessions, act }: AllButtonProps) => {
  const [first, ...others] = sessions;
  if (first === undefined || others.length === 0) return null;
  return (
    <button type="button" onClick={() => act({ kind, sessions: [first, ...others] })}>
      {words} {sessions.length}
    </button>
  );
};
