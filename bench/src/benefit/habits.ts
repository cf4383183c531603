/** What an agent does when a tool call fails. */
export interface Habit {
  readonly id: string;
  readonly text: string;
  /** Tries of one tool for one part of a task, before the agent looks for another way. */
  readonly tries: number;
  /** Whether it then tries an alternative that it knows of. */
  readonly usesAlternative: boolean;
}

export const HABITS: readonly Habit[] = [
  { id: 'once', text: 'gives up the task after one failure', tries: 1, usesAlternative: false },
  { id: 'thrice', text: 'tries 3 times, then an alternative', tries: 3, usesAlternative: true },
  { id: 'stubborn', text: 'tries 10 times, then gives up', tries: 10, usesAlternative: false },
];
