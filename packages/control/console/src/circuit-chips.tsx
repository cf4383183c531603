import type { SessionState } from '../../src/schema.ts';
import { type CircuitState, notClosed } from './overview.ts';
import { errorWord, probeWords, STATE_WORDS } from './words.ts';

/** The circuits of a session that are not closed. */
export const CircuitChips = ({ session }: { readonly session: SessionState }) => {
  const circuits = notClosed(session);
  if (circuits.length === 0) return null;
  return (
    <ul class="chips" aria-label="Circuits that are not closed">
      {circuits.map((circuit) => (
        <li key={circuit.tool} class={`chip ${circuit.state}`}>
          <b class="name">{circuit.tool}</b> {wordsOf(circuit)}
        </li>
      ))}
    </ul>
  );
};

const wordsOf = ({ state, category, nextProbe, openKeys }: CircuitState): string => {
  const probe = probeWords(nextProbe);
  return [
    state === 'closed'
      ? `closed, but ${openKeys} of its targets ${openKeys === 1 ? 'is' : 'are'} not available`
      : STATE_WORDS[state],
    errorWord(category),
    probe && `next probe ${probe}`,
  ]
    .filter((one) => one !== undefined && one !== '')
    .join(', ');
};
