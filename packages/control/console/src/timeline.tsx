import { useState } from 'preact/hooks';
import type { ConsoleChange } from '../../src/console/console-state.ts';
import { now } from './clock.ts';
import { changeWords, clockTime } from './words.ts';

const HOUR_MS = 3_600_000;
const SHOWN = 8;
/** Milliseconds within which processes do what one person asked for. */
const AT_ONCE_MS = 60_000;
/** Steps of the strip: six seconds each. */
const WIDTH = 600;

/** The last hour of an agent: who did what, and what changed. */
export const Timeline = ({ changes }: { readonly changes: readonly ConsoleChange[] }) => {
  const actions = changes.filter(({ kind }) => kind === 'action');
  const others = changes.filter(({ kind }) => kind !== 'action');
  if (changes.length === 0) return null;
  return (
    <section class="timeline" aria-label="The last hour">
      <h3>The last hour</h3>
      <Strip changes={changes} />
      <ChangeList title="What operators did" changes={actions} />
      <ChangeList title="What changed" changes={others} />
    </section>
  );
};

interface ChangeListProps {
  readonly title: string;
  readonly changes: readonly ConsoleChange[];
}

const ChangeList = ({ title, changes }: ChangeListProps) => {
  const [all, setAll] = useState(false);
  const entries = together(changes);
  if (entries.length === 0) return null;
  const shown = all ? entries : entries.slice(0, SHOWN);
  return (
    <>
      <h4>{title}</h4>
      <ol>
        {shown.map(({ change, endpoints }) => (
          <li key={JSON.stringify(change)} class={kindOf(change)}>
            <time dateTime={new Date(change.unixMs).toISOString()}>{clockTime(change.unixMs)}</time>
            <span>
              {changeWords(change)}
              {endpoints.size > 1 && ` in ${endpoints.size} processes`}
              {change.reason !== undefined && `: ${change.reason}`}
            </span>
          </li>
        ))}
      </ol>
      {entries.length > SHOWN && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${entries.length}`}
        </button>
      )}
    </>
  );
};

interface Entry {
  readonly change: ConsoleChange;
  readonly endpoints: Set<string>;
}

/** An action that several processes took at once is one entry. */
const together = (changes: readonly ConsoleChange[]): readonly Entry[] => {
  const entries: Entry[] = [];
  const actions = new Map<string, Entry[]>();
  for (const change of changes) {
    const alike = change.kind === 'action' ? alikeOf(actions, change) : [];
    const same = alike.find((entry) => isSameAction(entry, change));
    if (same !== undefined) {
      same.endpoints.add(change.endpoint);
      continue;
    }
    const entry = { change, endpoints: new Set([change.endpoint]) };
    entries.push(entry);
    alike.push(entry);
  }
  return entries;
};

/** Those that say the same. */
const alikeOf = (actions: Map<string, Entry[]>, change: ConsoleChange): Entry[] => {
  const words = JSON.stringify([changeWords(change), change.reason]);
  const alike = actions.get(words) ?? [];
  actions.set(words, alike);
  return alike;
};

const isSameAction = ({ change, endpoints }: Entry, other: ConsoleChange): boolean =>
  !endpoints.has(other.endpoint) && change.unixMs - other.unixMs < AT_ONCE_MS;

/** Where in the hour the changes are. The lists below say the same in words. */
const Strip = ({ changes }: { readonly changes: readonly ConsoleChange[] }) => {
  const from = now() - HOUR_MS;
  const placeOf = ({ unixMs }: ConsoleChange): number =>
    Math.max(0, Math.min(WIDTH - 3, Math.floor(((unixMs - from) / HOUR_MS) * WIDTH)));
  const marks = new Map(changes.map((change) => [`${kindOf(change)} ${placeOf(change)}`, change]));
  return (
    <div class="strip" aria-hidden="true">
      <svg viewBox={`0 0 ${WIDTH} 16`} preserveAspectRatio="none">
        <title>When the changes happened</title>
        {[...marks].map(([key, change]) => (
          <rect key={key} class={kindOf(change)} x={placeOf(change)} y={0} width={3} height={16} />
        ))}
      </svg>
      <span>1 hour ago</span>
      <span>now</span>
    </div>
  );
};

const kindOf = ({ kind, to }: ConsoleChange): string => {
  if (kind === 'action') return 'by-operator';
  if (kind === 'budget.exhausted' || kind === 'systemic.detected' || kind === 'limit.reached') return 'bad';
  if (kind === 'budget.resumed' || kind === 'systemic.resolved' || kind === 'limit.lifted' || to === 'closed')
    return 'good';
  return to === 'open' ? 'warn' : 'plain';
};
