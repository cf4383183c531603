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
    .description('Check a capability map, and show it: what each tool provides, and what replaces it.')
    .argument('<file>', 'a .yaml, .yml or .json file')
    .option('--json', 'print one JSON document, of type CapabilityReport', false)
    .option('--strict', 'exit with 1 if there are warnings', false)
    .showHelpAfterError('(see breakerbox capabilities --help)')
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
