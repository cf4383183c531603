import { createBreakerbox } from '@breakerbox/core';

/** A query that ends at once: starting Claude Code for a snippet takes seconds, and test/newcomer.test.ts does it. */
export const query = async function* (_: { prompt: string; options: { hooks: object } }): AsyncGenerator<string> {
  yield 'Nothing to do.';
};
export const session = createBreakerbox({ agent: 'snippets' }).session();
export const prompt = 'Read.';
export const heard: string[] = [];
export const show = (message: string): void => void heard.push(message);
