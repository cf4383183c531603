/** Settings of a box from a file, and settings that follow the file while the program runs. */

export { inMode } from './in-mode.ts';
export { type ConfigFile, type FileSettings, loadConfig, readConfig } from './load-config.ts';
export { type ConfigWatch, type WatchOptions, watchConfig } from './watch-config.ts';
