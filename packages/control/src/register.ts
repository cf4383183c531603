/**
 * `node --import @breakerbox/control/register agent.js` serves the control API of every box of the program, with no change to the code.
 *
 * | variable | what | default |
 * |---|---|---|
 * | `BREAKERBOX_CONTROL_LISTEN` | path of a Unix socket, or a port, or `HOST:PORT` | a socket that `breakerbox ctl` finds |
 * | `BREAKERBOX_CONTROL_TOKENS` | file of tokens; needed with a port | none |
 * | `BREAKERBOX_CONTROL_AUDIT` | audit file | `audit.jsonl` beside the socket |
 * | `BREAKERBOX_CONTROL_HOSTS` | names under which clients reach the port, separated by commas | none |
 * | `BREAKERBOX_CONTROL_TLS_CERT`, `BREAKERBOX_CONTROL_TLS_KEY` | PEM files for TLS on the port | no TLS |
 * | `BREAKERBOX_CONTROL_BEHIND_PROXY` | `true` if a proxy in front ends TLS | `false` |
 *
 * A variable that can't work, and an address that is taken, end the process at its start.
 */
import { isMainThread } from 'node:worker_threads';
import { optionsOf } from './register-options.ts';
import { startControl } from './start-control.ts';

// Node runs --import in worker threads too, where the main thread already has the address.
if (isMainThread) await startControl(optionsOf(process.env));
