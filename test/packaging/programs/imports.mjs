// Loads what its arguments name, by `import`, and runs the story.
import * as core from '@breakerbox/core';
import * as instrumentation from '@breakerbox/instrumentation';
import { say, story } from './story.mjs';

const loaded = [];
for (const entry of process.argv.slice(2)) {
  await import(entry);
  loaded.push(entry);
}
say({ loaded, seen: await story(core, instrumentation) });
