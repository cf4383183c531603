import type { LimitState } from '../../src/schema.ts';
import type { LiveSession } from './overview.ts';
import type { Intent } from './plans.ts';
import { limitName, spentWords, usedWords } from './words.ts';

interface RunProps {
  readonly live: LiveSession;
  act(intent: Intent): void;
}

/** D1, D2: the limits of a session, what was used, and its sub-agents. Nothing for most sessions. */
export const RunDetails = ({ live, act }: RunProps) => {
  const { limits = [], used, children = [], childrenLeftOut = 0 } = live.session;
  if (limits.length + children.length === 0) return null;
  return (
    <div class="run">
      {limits.length === 0 && used !== undefined && <p class="muted">{spentWords(used)}</p>}
      <LimitList live={live} act={act} limits={limits} path={live.session.id} />
      {children.length > 0 && (
        <>
          <h4>Sub-agents</h4>
          <ul class="tree" aria-label={`Sub-agents of session ${live.session.id}`}>
            {children.map((child, index) => (
              <li key={index} class={`depth-${Math.min(child.depth, 5)}`}>
                <span class="name">{child.name ?? child.id}</span>{' '}
                <span class="muted">
                  {child.depth > 1 && `beneath ${child.parent}, `}
                  {spentWords(child.used)}
                  {child.ended && ', ended'}
                </span>
                <LimitList live={live} act={child.ended ? undefined : act} limits={child.limits} path={child.path} />
              </li>
            ))}
            {childrenLeftOut > 0 && <li class="muted">and {childrenLeftOut} more, which are not listed</li>}
          </ul>
        </>
      )}
    </div>
  );
};

interface LimitListProps {
  readonly live: LiveSession;
  readonly limits: readonly LimitState[];
  /** Undefined: the limits cannot be extended. */
  readonly act: RunProps['act'] | undefined;
  /** Of the session or the sub-agent. */
  readonly path: string;
}

const LimitList = ({ live, limits, act, path }: LimitListProps) =>
  limits.length === 0 ? null : (
    <ul class="limits">
      {limits.map((limit) => (
        <li key={limit.limit}>
          <meter min={0} max={limit.size} value={limit.used} aria-hidden="true" /> {usedWords(limit)}{' '}
          {act !== undefined && live.canOperate && (
            <button
              type="button"
              class={limit.level === 'reached' && limit.mode === 'pause' ? 'primary' : ''}
              aria-label={`Extend the limit of ${limitName(limit.limit)} of ${path}`}
              onClick={() => act({ kind: 'extend', sessions: [live], limit, path })}
            >
              Extend
            </button>
          )}
        </li>
      ))}
    </ul>
  );
