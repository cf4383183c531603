import type { CapabilityMap, ConfigIssue } from '@breakerbox/core';

/** What `breakerbox capabilities --json` prints. */
export type CapabilityReport = SoundMap | FaultyMap;

/** The file is valid. */
export interface SoundMap {
  /** The path, as given. */
  readonly file: string;
  readonly valid: true;
  /** By name, in the order of the file. */
  readonly tools: CapabilityMap['tools'];
  /** Tools with neither an alternative nor a fallback. */
  readonly warnings: readonly ConfigIssue[];
}

/** The file is not valid. */
export interface FaultyMap {
  readonly file: string;
  readonly valid: false;
  /** All faults, each with its place in the file. */
  readonly errors: readonly ConfigIssue[];
}

export const mapReport = (file: string, { tools, warnings }: CapabilityMap): SoundMap => ({
  file,
  valid: true,
  tools,
  warnings,
});

export const faultReport = (file: string, errors: readonly ConfigIssue[]): FaultyMap => ({
  file,
  valid: false,
  errors,
});
