// Loads what its arguments name, by `require`, and runs the story.
const core = require('@breakerbox/core');
const instrumentation = require('@breakerbox/instrumentation');
const { say, story } = require('./story.mjs');

const loaded = process.argv.slice(2).filter((entry) => require(entry));
story(core, instrumentation).then((seen) => say({ loaded, seen }));
