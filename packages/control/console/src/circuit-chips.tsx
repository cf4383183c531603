import type { SessionState } from '../../src/schema.ts';
import { notClosed } from './overview.ts';
import { circuitWords } from './words.ts';

/** The circuits of a session that are not closed. */
export const CircuitChips = ({ session }: { readonly session: SessionState }) => {
  const circuits = notClosed(session);
  if (circuits.length === 0) return null;
  return (
    <ul class="chips" aria-label="Circuits that are not closed">
      {circuits.map((circuit) => (
        <li key={circuit.tool} class={`chip ${circuit.state}`}>
          <b class="name">{circuit.tool}</b> {circuitWords(circuit, session.state !== 'active')}
        </li>
      ))}
    </ul>
  );
};
