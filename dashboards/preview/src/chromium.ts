import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Names under which Chromium is installed. */
export const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The Chromium on PATH; undefined if it is missing. */
export const findChromium = (path = process.env.PATH ?? ''): string | undefined =>
  path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => PROGRAMS.map((name) => join(folder, name)))
    .find(isExecutable);

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
