import { isBuiltin } from 'node:module';

/** Packages that only some starts need. All others are imported as they are. */
const DEFERRED = /^(@opentelemetry\/(exporter-|sdk-(logs|trace)|propagator-)|@grpc\/grpc-js$|(node:)?(https?|zlib)$)/;

/**
 * The one deferred package that is not carried: an optional peer. A bundler sees the first `require` and takes the package along. Node
 * has no `require` in an ES module, and comes to the second.
 */
const GRPC = '@grpc/grpc-js';
const REQUIRE_GRPC = `
function requireGrpc() {
  try {
    return require('${GRPC}');
  } catch (error) {
    if (error?.code === 'MODULE_NOT_FOUND') throw error;
    return process.getBuiltinModule('node:module').createRequire(import.meta.url)('${GRPC}');
  }
}
`;

/**
 * A plugin that evaluates these packages at their first use. A module that imports ten exporters and makes one of them then loads one:
 * `new OTLPTraceExporter()` becomes `new (require('…').OTLPTraceExporter)()`. Calls stay synchronous.
 */
export const deferredImports = {
  name: 'deferred imports',
  /** `require` would take the CommonJS form of a package, beside the ES modules that are here already. */
  resolveId(name, importer, { kind }) {
    return kind === 'require-call' ? this.resolve(name, importer, { kind: 'import-statement', skipSelf: true }) : null;
  },
  transform(code, id, { magicString }) {
    const { body } = this.parse(code, { lang: id.endsWith('.ts') ? 'ts' : 'js' });
    const imports = body.filter(isDeferred);
    magicString.replace(/\b(?:__)?require\("@grpc\/grpc-js"\)/g, 'requireGrpc()');
    const uses = new Map(imports.flatMap(usesOf));
    for (const { start, end } of imports) magicString.remove(start, end);
    for (const node of body.filter(({ type }) => type !== 'ImportDeclaration')) replaceUses(node, uses, magicString);
    return { code: magicString };
  },
  renderChunk: (code, _chunk, _options, { magicString }) =>
    code.includes('requireGrpc()') ? magicString.append(REQUIRE_GRPC) : null,
};

const isDeferred = ({ type, importKind, source }) =>
  type === 'ImportDeclaration' && importKind !== 'type' && DEFERRED.test(source.value);

/** What replaces each name that an import declares. */
const usesOf = ({ source: { value }, specifiers }) =>
  specifiers
    .filter(({ importKind }) => importKind !== 'type')
    .map(({ type, imported, local }) => [
      local.name,
      type === 'ImportSpecifier' ? `(${required(value)}.${imported.name})` : required(value),
    ]);

const required = (name) => {
  if (name === GRPC) return 'requireGrpc()';
  return isBuiltin(name) ? `process.getBuiltinModule('${name}')` : `require('${name}')`;
};

/** Identifiers in these places are names of members, not uses of an import. */
const isName = ({ type, computed }, key) =>
  !computed &&
  ((key === 'property' && type === 'MemberExpression') ||
    (key === 'key' && /^(Property|MethodDefinition|PropertyDefinition)$/.test(type)));

/** Types are gone at run time. */
const isType = ({ type }) => type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(type);

function replaceUses(node, uses, magicString) {
  if (Array.isArray(node)) for (const one of node) replaceUses(one, uses, magicString);
  if (typeof node?.type !== 'string' || isType(node)) return;
  const use = uses.get(node.name);
  if (node.type === 'Identifier' && use !== undefined) magicString.overwrite(node.start, node.end, use);
  for (const [key, child] of Object.entries(node)) if (!isName(node, key)) replaceUses(child, uses, magicString);
}
