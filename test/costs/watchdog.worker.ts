import { parentPort } from 'node:worker_threads';
import { CORE_ENTRIES } from './core-entries.ts';
import { HOSTILE } from './hostile-objects.ts';

/** Runs one pair of entry and object per message, and says when it is over. */
parentPort?.on('message', ({ entry, object }: { readonly entry: string; readonly object: string }) => {
  try {
    CORE_ENTRIES[entry]?.(HOSTILE[object]?.());
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // A clear error is an answer.
  }
  parentPort?.postMessage('over');
});
parentPort?.postMessage('ready');
