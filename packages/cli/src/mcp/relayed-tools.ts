import type { Session } from '@breakerbox/core';
import { readItems, readText } from '@breakerbox/core/internal';

/** Maximum number of tools of a list that are read. */
const MOST_TOOLS = 2_000;

/** Maximum number of names that are kept. A server may change its list again and again. */
const MOST_NAMES = 10_000;

/** The tools of the server, as its lists have shown them. */
export class RelayedTools {
  readonly #names = new Set<string>();
  #isComplete = false;

  /** Reads a list, or a page of one, and gives its tools their circuits. */
  record(list: unknown, session: Session, group: string): void {
    const tools = (list as { tools?: unknown } | null | undefined)?.tools;
    if (!Array.isArray(tools)) return;
    for (const tool of readItems(tools, MOST_TOOLS)) {
      const name = readText(tool, 'name');
      if (name === undefined || name.trim() === '') continue;
      if (this.#names.size >= MOST_NAMES && !this.#names.has(name)) continue;
      this.#names.add(name);
      session.declare(name, { group });
    }
    if (readText(list, 'nextCursor') === undefined) this.#isComplete = true;
  }

  /** The server may have other tools now. Their names are known again after the next list. */
  mayHaveChanged(): void {
    this.#isComplete = false;
  }

  /** Whether the server has the tool, as far as its lists say. The model may have made up a name that is on no list. */
  mayHave(name: string): boolean {
    return !this.#isComplete || this.#names.has(name);
  }
}
