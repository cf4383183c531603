import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-api';
import { ENTRIES } from './entries.ts';

/*
 * Reads options and their comments from the sources of the packages with TypeScript 5's API, because TypeScript 7 has none. It skips
 * types of other libraries, to be fast.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One option as its declaration has it. */
export interface Option {
  /** Dotted where it is part of another: `budget.failures`. */
  readonly name: string;
  readonly required: boolean;
  /** As written, with unions of strings spelled out. */
  readonly type: string;
  /** Its comment, in one line. */
  readonly comment: string;
}

/** A type that a package exports. */
export interface OptionsType {
  readonly name: string;
  readonly comment: string;
  readonly options: readonly Option[];
  /** Whether a function or method of the same entry takes it. */
  readonly isTaken: boolean;
}

/** What an entry of a package exports, by name. */
export type Entry = ReadonlyMap<string, OptionsType>;

/** Reads the types that these entries export, by names such as `@breakerbox/core`. */
export const readEntries = (names: readonly string[]): ReadonlyMap<string, Entry> => {
  const files = names.map(fileOf);
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    types: [],
  };
  const program = ts.createProgram(files, options, hostOf(options));
  const checker = program.getTypeChecker();
  return new Map(
    names.map((name, index) => [name, readEntry(program.getSourceFile(files[index] ?? ''), checker, name)]),
  );
};

/** Resolves relative imports and the workspace's packages, and nothing else. */
const hostOf = (options: ts.CompilerOptions): ts.CompilerHost => ({
  ...ts.createCompilerHost(options),
  resolveModuleNameLiterals: (literals, from) =>
    literals.map(({ text }) => {
      const file = text.startsWith('.') ? resolve(dirname(from), text) : ENTRIES.has(text) ? fileOf(text) : undefined;
      return {
        resolvedModule: file === undefined ? undefined : { resolvedFileName: file, extension: ts.Extension.Ts },
      };
    }),
});

const fileOf = (name: string): string => {
  const source = ENTRIES.get(name);
  if (source === undefined)
    throw new Error(`docs/reference: no package exports ${name}. Correct docs/reference/sections.ts.`);
  return resolve(ROOT, source);
};

const readEntry = (source: ts.SourceFile | undefined, checker: ts.TypeChecker, name: string): Entry => {
  const symbol = source && checker.getSymbolAtLocation(source);
  if (!symbol) throw new Error(`docs/reference: the source of ${name} is not a module. Correct its package.json.`);
  const found = checker.getExportsOfModule(symbol).map((one) => {
    const target = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one;
    return { name: one.name, target };
  });
  const taken = new Set(found.flatMap(({ target }) => parameterTypes(target, checker)));
  const types = found.filter(({ target }) => isType(target));
  return new Map(
    types.map(({ name, target }) => [name, { ...readType(name, target, checker), isTaken: taken.has(target) }]),
  );
};

/** The types that a function, a class or its methods take. */
const parameterTypes = (symbol: ts.Symbol, checker: ts.TypeChecker): readonly ts.Symbol[] => {
  const own = symbol.flags & ts.SymbolFlags.Value ? [checker.getTypeOfSymbol(symbol)] : [];
  const methods = isType(symbol)
    ? checker
        .getDeclaredTypeOfSymbol(symbol)
        .getProperties()
        .filter(({ flags }) => flags & ts.SymbolFlags.Method)
    : [];
  return [...own, ...methods.map((one) => checker.getTypeOfSymbol(one))]
    .flatMap((type) => [...type.getCallSignatures(), ...type.getConstructSignatures()])
    .flatMap(({ parameters }) => parameters)
    .flatMap((one) => {
      const type = checker.getNonNullableType(checker.getTypeOfSymbol(one));
      const element = checker.isArrayLikeType(type)
        ? (checker.getIndexTypeOfType(type, ts.IndexKind.Number) ?? type)
        : type;
      return element.aliasSymbol ?? element.symbol ?? [];
    });
};

const isType = ({ flags }: ts.Symbol): boolean =>
  (flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class)) !== 0;

const readType = (name: string, symbol: ts.Symbol, checker: ts.TypeChecker): Omit<OptionsType, 'isTaken'> => {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  return { name, comment: commentOf(symbol, checker), options: optionsOf(type, '', checker) };
};

const optionsOf = (type: ts.Type, before: string, checker: ts.TypeChecker): readonly Option[] =>
  alternativesOf(type, checker).flatMap((same) => {
    const [property] = same;
    if (!property) return [];
    const name = `${before}${property.name}`;
    const own: Option = {
      name,
      required: !type.isUnion() && (property.flags & ts.SymbolFlags.Optional) === 0,
      type: [...new Set(same.map((one) => typeTextOf(one, checker)))].filter((one) => one !== 'undefined').join(' | '),
      comment: same.map((one) => commentOf(one, checker)).find(Boolean) ?? '',
    };
    const inner = writtenInPlace(property, checker);
    return inner.length === 0 ? [own] : [own, ...inner.flatMap((one) => optionsOf(one, `${name}.`, checker))];
  });

/** The properties by name. A union has those of all its parts, except those that a part excludes with `never`. */
const alternativesOf = (type: ts.Type, checker: ts.TypeChecker): readonly (readonly ts.Symbol[])[] => {
  const all = (type.isUnion() ? type.types : [type]).flatMap((part) => checker.getPropertiesOfType(part));
  const there = all.filter((one) => typeNodeOf(one)?.kind !== ts.SyntaxKind.NeverKeyword);
  const names = new Set(there.map(({ name }) => name));
  return [...names].map((name) => there.filter((one) => one.name === name));
};

/** Types that are declared elsewhere, with their options. */
const ELSEWHERE: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.TypeReference,
  ts.SyntaxKind.FunctionType,
  ts.SyntaxKind.IndexedAccessType,
]);

/** The parts of a property's type that are objects without a name. Their options are in the property's rows. */
const writtenInPlace = (symbol: ts.Symbol, checker: ts.TypeChecker): readonly ts.Type[] => {
  const written = typeNodeOf(symbol);
  if (!written || ELSEWHERE.has(written.kind)) return [];
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(symbol));
  const parts = type.isUnion() ? type.types : [type];
  return parts.filter(
    (part) =>
      (part.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0 &&
      part.getCallSignatures().length === 0 &&
      !checker.isArrayLikeType(part) &&
      !nameOf(part) &&
      checker.getIndexInfosOfType(part).length === 0,
  );
};

const nameOf = (type: ts.Type): string | undefined => {
  const symbol = type.aliasSymbol ?? type.symbol;
  return symbol && !symbol.name.startsWith('__') && (type.flags & ts.TypeFlags.Intersection) === 0
    ? symbol.name
    : undefined;
};

const typeNodeOf = (symbol: ts.Symbol): ts.TypeNode | undefined => {
  const [declaration] = symbol.declarations ?? [];
  return declaration && (ts.isPropertySignature(declaration) || ts.isPropertyDeclaration(declaration))
    ? declaration.type
    : undefined;
};

const typeTextOf = (symbol: ts.Symbol, checker: ts.TypeChecker): string => {
  const node = typeNodeOf(symbol);
  if (!node) return methodText(symbol, checker);
  return shorten(textOf(node, checker));
};

const methodText = (symbol: ts.Symbol, checker: ts.TypeChecker): string =>
  checker.typeToString(checker.getNonNullableType(checker.getTypeOfSymbol(symbol)));

/** As written, without `undefined`. Aliases of functions and of unions of strings are spelled out. */
const textOf = (node: ts.TypeNode, checker: ts.TypeChecker): string => {
  if (ts.isUnionTypeNode(node)) {
    const parts = node.types.map((one) => textOf(one, checker)).filter((one) => one !== 'undefined');
    return parts.join(' | ');
  }
  if (ts.isTypeLiteralNode(node) || ts.isIntersectionTypeNode(node)) return 'object';
  if (ts.isParenthesizedTypeNode(node)) return textOf(node.type, checker);
  if (ts.isTypeReferenceNode(node)) {
    const type = checker.getTypeFromTypeNode(node);
    const [alias] = type.aliasSymbol?.declarations ?? [];
    const texts = type.isUnion() && type.types.every((one) => one.isStringLiteral()) && type.types.length < 5;
    if (texts) return literalsOf(node, type, checker).join(' | ');
    if (alias && ts.isTypeAliasDeclaration(alias) && isOfFunctions(alias.type)) return alias.type.getText();
  }
  return node.getText();
};

/** The strings of a union, in the order of its list if it is declared as `(typeof LIST)[number]`: the compiler's own order may change. */
const literalsOf = ({ typeName }: ts.TypeReferenceNode, { types }: ts.UnionType, checker: ts.TypeChecker) => {
  const symbol = checker.getSymbolAtLocation(typeName);
  const named = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const declared = named?.declarations?.find(ts.isTypeAliasDeclaration)?.type;
  const list = declared && ts.isIndexedAccessTypeNode(declared) && checker.getTypeFromTypeNode(declared.objectType);
  const ordered = list && checker.isTupleType(list) ? checker.getTypeArguments(list as ts.TypeReference) : types;
  return ordered.map((one) => `'${(one as ts.StringLiteralType).value}'`);
};

/** A function, or a union with one: `string | ((tool: string) => string)`. */
const isOfFunctions = (node: ts.TypeNode): boolean => {
  if (ts.isUnionTypeNode(node)) return node.types.some(isOfFunctions);
  return ts.isFunctionTypeNode(node) || (ts.isParenthesizedTypeNode(node) && isOfFunctions(node.type));
};

const shorten = (text: string): string =>
  text
    .replaceAll(/\breadonly (?=\w+(?:<[^>]*>)?\[\])/g, '')
    .replaceAll(/\bReadonly<(Record<.+>)>/g, '$1')
    .replaceAll(/\s+/g, ' ');

const commentOf = (symbol: ts.Symbol, checker: ts.TypeChecker): string =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s+/g, ' ').trim();
