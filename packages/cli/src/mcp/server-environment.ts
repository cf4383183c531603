/** What `npx` and npm add about their own run. A server that `npx` starts would take the relay's package for its own. */
const OF_THE_RUN =
  /^(?:INIT_CWD|npm_(?:command|execpath|node_execpath|(?:lifecycle|package)_\w+|config_(?:package|call|yes|local_prefix|user_agent|npm_version|node_gyp|workspaces?)))$/;

/** The environment of a server: that of the relay, without what npm added when it started the relay. */
export const serverEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  env.npm_command === undefined && env.npm_lifecycle_event === undefined
    ? env
    : Object.fromEntries(Object.entries(env).filter(([name]) => !OF_THE_RUN.test(name)));
