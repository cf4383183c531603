/** What core's sources have for its version. */
const WRITTEN = /(SCOPE_VERSION: string = )'[^']*'/;

/** A plugin that writes the version of the package into its code: a release changes manifests and no sources. */
export const ownVersion = (version) => ({
  name: 'own version',
  transform: (code) => (WRITTEN.test(code) ? { code: code.replace(WRITTEN, `$1'${version}'`), map: null } : null),
});
