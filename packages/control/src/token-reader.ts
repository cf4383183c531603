import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { fittingParts } from './fitting.ts';
import { contentOf, hashOf, type Token, TokenFile } from './tokens.ts';
import { inTurns } from './turns.ts';

/**
 * The token of a file that a client shows; undefined if the file does not have it now. Rejects if the file cannot be read, if other users
 * can read it, or if it is no file of tokens at all.
 */
export type TokenReader = (shown: string) => Promise<Token | undefined>;

/** By their hashes. */
type Tokens = ReadonlyMap<string, Token>;

/**
 * For an endpoint: an entry that does not fit is ignored, so that it admits no client and keeps no other out. `say` is told once why. A file
 * that has not changed is not read again: clients without a token ask as often as they like.
 */
export const tokenReader = (file: string, say: (message: string) => void): TokenReader => {
  let said = '';
  const sayOnce = (message: string): void => {
    if (message !== said && message !== '') say(message);
    said = message;
  };
  const read = async (): Promise<Tokens> => {
    const { data, error } = (await inTurns(fittingParts(TokenFile, await contentOf(file)))).result;
    if (data === undefined) throw new Error(`${file} is not a file of tokens: ${error && z.prettifyError(error)}`);
    sayOnce(error === undefined ? '' : `${file} has entries that are ignored: ${z.prettifyError(error)}`);
    return new Map(data.tokens.toReversed().map((token) => [token.sha256, token])); // The first one of a hash counts.
  };
  let kept: { readonly stamp: string; readonly tokens: Tokens } | undefined;
  const latest = oneByOne(async (): Promise<Tokens> => {
    try {
      const found = await stat(file, { bigint: true });
      if (kept?.stamp === stampOf(found)) return kept.tokens;
      const tokens = await read();
      kept = isSettled(found) ? { stamp: stampOf(found), tokens } : undefined;
      return tokens;
    } catch (error) {
      sayOnce((error as Error).message);
      throw error;
    }
  });
  return async (shown) => (await latest()).get(hashOf(shown));
};

/** What differs after each change of a file, and of its rights. */
const stampOf = ({ dev, ino, size, mode, uid, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mode, uid, mtimeNs, ctimeNs].join(' ');

/** Two changes at nearly the same time may look like one. */
const SETTLED_MS = 1_000;

const isSettled = ({ ctimeMs }: BigIntStats): boolean => Date.now() - Number(ctimeMs) > SETTLED_MS;

/** Does work once for all who ask before it begins: each gets what began after it asked. */
const oneByOne = <Result>(work: () => Promise<Result>): (() => Promise<Result>) => {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const begun = work();
      running = begun.catch(() => undefined);
      return begun;
    });
    return next;
  };
};
