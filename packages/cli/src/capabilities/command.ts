import { BreakerboxConfigError } from '@breakerbox/core';
import { loadCapabilities } from '@breakerbox/instrumentation/capabilities';
import { Command } from 'commander';
import { documentOf, ofThisProcess, type Surroundings } from '../surroundings.ts';
import { renderFaults, renderMap, renderWarnings } from './render.ts';
import { faultReport, mapReport } from './report.ts';

interface Flags {
  readonly json: boolean;
  readonly strict: boolean;
}

/** `breakerbox capabilities`. */
export const capabilitiesCommand = (surroundings: Surroundings = ofThisProcess): Command =>
  new Command('capabilities')
    .description('Show a capability map, and say what is wrong in it: what each tool gives, and what to do without it.')
    .argument('<file>', 'a .yaml, .yml or .json file')
    .option('--json', 'print one JSON document, of type CapabilityReport', false)
    .option('--strict', 'end with 1 when there are warnings', false)
    .showHelpAfterError('(breakerbox capabilities --help lists what there is)')
    .action((file: string, flags: Flags) => run(file, flags, surroundings));

const run = async (file: string, { json, strict }: Flags, { out, err, exitWith, columns }: Surroundings) => {
  try {
    const map = await loadCapabilities(file);
    out(json ? documentOf(mapReport(file, map)) : renderMap(file, map.tools, columns) + renderWarnings(map.warnings));
    if (strict && map.warnings.length > 0) exitWith(1);
  } catch (error) {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    if (json) out(documentOf(faultReport(file, error.issues)));
    else err(`breakerbox capabilities: ${renderFaults(file, error.issues)}`);
    exitWith(1);
  }
};
