import type { CapabilityMap, ConfigIssue } from '@breakerbox/core';

/** What `breakerbox capabilities --json` prints. */
export type CapabilityReport = SoundMap | FaultyMap;

/** The file can be used. */
export interface SoundMap {
  /** As it was given. */
  readonly file: string;
  readonly valid: true;
  /** By name, as they stand in the file. */
  readonly tools: CapabilityMap['tools'];
  /** Tools with neither alternative nor fallback. */
  readonly warnings: readonly ConfigIssue[];
}

/** The file can't be used. */
export interface FaultyMap {
  readonly file: string;
  readonly valid: false;
  /** All that is wrong, each with where it stands. */
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
