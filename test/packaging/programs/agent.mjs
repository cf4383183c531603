// The whole of an agent in one module, as a bundler takes it.
import * as core from '@breakerbox/core';
import * as instrumentation from '@breakerbox/instrumentation';
import { story } from './story.mjs';

export const seen = story(core, instrumentation);
