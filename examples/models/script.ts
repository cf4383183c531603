/** What a scripted model does in one turn: says something, or calls tools (side by side where there are several). */
export type ScriptedStep = string | readonly ScriptedCall[];

export interface ScriptedCall {
  readonly tool: string;
  readonly input: unknown;
}

/** A turn of the model. */
export interface Turn {
  /** Empty where it calls tools. */
  readonly text: string;
  readonly calls: readonly (ScriptedCall & { readonly id: string })[];
}

/** Gives the turns of a script one after the other; when it is over, a text that says so. */
export const playScript = (steps: readonly ScriptedStep[]): (() => Turn) => {
  let next = 0;
  return () => {
    const step = steps[next] ?? 'The script is over.';
    next += 1;
    if (typeof step === 'string') return { text: step, calls: [] };
    return { text: '', calls: step.map((call, index) => ({ ...call, id: `call-${next}-${index + 1}` })) };
  };
};
