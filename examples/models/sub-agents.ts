import type { ScriptedStep } from './script.ts';

/** The turns of two agents. The outer one calls a tool, in which the inner one searches twice. */
export interface NestedScripts {
  readonly outer: readonly ScriptedStep[];
  readonly inner: readonly ScriptedStep[];
}

/**
 * @param tool The tool of the outer agent that runs the inner one, and its input.
 * @param search The tool of the inner agent.
 */
export const nestedScripts = (
  tool: string,
  input: object = { query: 'breakers' },
  search = 'search',
): NestedScripts => ({
  outer: [[{ tool, input }], 'The article: breakers are back.'],
  inner: [...['fuses', 'breakers'].map((query) => [{ tool: search, input: { query } }]), 'Breakers are back.'],
});
