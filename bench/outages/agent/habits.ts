/** What the scripted model does when a call fails. Each figure is from a study that the page links, or an assumption that it varies. */
export interface Habit {
  readonly id: string;
  readonly text: string;
  /** Chance that a failed call is made again, each time. */
  readonly repeats: number;
  /** Most calls of one tool for one step of a task. */
  readonly mostCalls: number;
  /** Chance that the model finds the alternative by itself, once it stops repeating. */
  readonly findsAlternative: number;
  /** Chance that it follows a message that says what to do. */
  readonly follows: number;
  /** Whether it does not repeat a call that a breaker has rejected, whatever its message. */
  readonly knowsBreakers: boolean;
}

/** Chance that a step begins with a wrong argument. The tool is healthy, and the model corrects itself. */
export const MISTAKES = 0.03;
/** Time for one turn of the model. */
export const TURN_MS = 4_000;

const USUAL: Habit = {
  id: 'usual',
  text: 'as in the tables above',
  repeats: 0.6,
  mostCalls: 10,
  findsAlternative: 0.38,
  follows: 0.9,
  knowsBreakers: false,
};

export const HABITS: readonly Habit[] = [
  USUAL,
  { ...USUAL, id: 'never-repeats', text: 'repeats no call', repeats: 0 },
  { ...USUAL, id: 'stubborn', text: 'repeats a failed call with 90 %', repeats: 0.9 },
  { ...USUAL, id: 'never-finds', text: 'finds no alternative by itself', findsAlternative: 0 },
  { ...USUAL, id: 'always-finds', text: 'always finds the alternative by itself', findsAlternative: 1 },
  { ...USUAL, id: 'half-follows', text: 'follows half of the messages that say what to do', follows: 0.5 },
  { ...USUAL, id: 'ignores', text: 'follows no message that says what to do', follows: 0 },
  { ...USUAL, id: 'knows-breakers', text: 'never repeats a call that any breaker rejected', knowsBreakers: true },
];
export const USUAL_HABIT = USUAL;
