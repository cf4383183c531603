import type { ErrorCategory } from './taxonomy.ts';

/** Who says a text. A tool throws when it breaks; what it returns is an answer more often than an outage. */
export type Voice = 'thrown' | 'returned';

/** Phrases that mean one thing. */
export interface Group {
  readonly means: ErrorCategory | typeof ABOUT_INPUT;
  /** Mean an outage, or the model's mistake, whoever says them. Must not occur in the business of a tool. */
  readonly always: readonly RegExp[];
  /**
   * Mean it where they were thrown; in an error *result* they are business too: seat holds time out, gift certificates
   * expire, card issuers deny access, room service is unavailable.
   */
  readonly thrown?: readonly RegExp[];
}

export const ABOUT_INPUT = { category: 'filesystem', aboutInput: true } as const;

/** One of several words. */
export const oneOf = (words: string) => `(?:${words.trim().split(/\s+/).join('|')})`;
/** The parts as one expression, in any case. */
export const anyCase = (...parts: readonly string[]) => new RegExp(parts.join(''), 'i');
/** At the beginning of the text, where no word before it changes what it means, as in 'gift certificate expired'. */
export const opening = (source: string) => anyCase(String.raw`^\s*(?:[\w.]{0,60}(?:error|exception): ?)?`, source);
/** The same at the beginning of the text or of a part of it: 'request to https://x failed, reason: <here>'. */
export const clause = (source: string) => anyCase(String.raw`(?:^|[\n:;,.!(\]] ?)`, source);
/** At the end of a sentence: 'the host is down.', and not 'the host is down with a cold'. */
export const STOP = String.raw`(?=\s*(?:$|[\n.,;:!?)\]'"]))`;
