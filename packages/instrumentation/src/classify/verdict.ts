import type { Blamed, Classification } from '@breakerbox/core';

/** Why a call did not succeed, what the failure is about (C14), and the evidence. */
export interface Verdict extends Classification {
  readonly blames: Blamed;
  /** The evidence, in short plain English. It quotes no input. */
  readonly why: string;
  /**
   * What the category rests on. `evidence`: a code, a status, a class, a schema, a signal, or words that only libraries write. `words`:
   * words that people write too, such as "not" or "already", or a quotation of the input. `nothing`: nothing could judge the error.
   */
  readonly judgedBy: 'evidence' | 'words' | 'nothing';
  /** Whether the framework marks it as an error: it was thrown, has `isError`, or is a JSON-RPC error. */
  readonly marked: boolean;
}
