import { type AgentProps, FORCE_WORDS, type ForceKind } from './plans.ts';

const KINDS: readonly ForceKind[] = ['force_open', 'disable', 'observe'];

/** What an operator can force on a tool. */
export const ForceButtons = ({ agent, tool, act }: AgentProps & { readonly tool: string }) => (
  <div class="buttons">
    {KINDS.map((kind) => (
      <button
        key={kind}
        type="button"
        aria-label={`${FORCE_WORDS[kind]} ${tool}`}
        onClick={() => act({ kind, agent, tool })}
      >
        {FORCE_WORDS[kind]}
      </button>
    ))}
  </div>
);
