import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-api';

/*
 * Reads options and their comments from the sources of the packages, by TypeScript 5's API: 7 has none. Types of other libraries
 * aren't looked at, which makes it quick.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One option as its declaration has it. */
export interface Option {
  /** Dotted where it is part of another: `budget.failures`. */
  readonly name: string;
  readonly required: boolean;
  /** As it is written, unions of texts spelled out. */
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

/** Reads the types that these source files export, by the paths of the files from the root. */
export const readEntries = (paths: readonly string[]): ReadonlyMap<string, Entry> => {
  const files = paths.map((path) => resolve(ROOT, path));
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
    paths.map((path, index) => [path, readEntry(program.getSourceFile(files[index] ?? ''), checker, path)]),
  );
};

/** Follows the packages' own files and each other, and nothing else. */
const hostOf = (options: ts.CompilerOptions): ts.CompilerHost => ({
  ...ts.createCompilerHost(options),
  resolveModuleNameLiterals: (literals, from) =>
    literals.map(({ text }) => {
      const file = text.startsWith('.') ? resolve(dirname(from), text) : ownEntry(text);
      return {
        resolvedModule: file === undefined ? undefined : { resolvedFileName: file, extension: ts.Extension.Ts },
      };
    }),
});

const ownEntry = (name: string): string | undefined => {
  const [, own, path = 'index'] = /^@breakerbox\/([\w-]+)(?:\/(.+))?$/.exec(name) ?? [];
  return own === undefined ? undefined : resolve(ROOT, `packages/${own}/src/${path}.ts`);
};

const readEntry = (source: ts.SourceFile | undefined, checker: ts.TypeChecker, path: string): Entry => {
  const symbol = source && checker.getSymbolAtLocation(source);
  if (!symbol) throw new Error(`docs/reference: ${path} is not a module. Correct the path in docs/reference/page.ts.`);
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

/** What a function or a class takes, or the methods of what it gives, by the names of the types. */
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

/** The properties by name; of a union those of all its parts, but for what a part has none of (`never`). */
const alternativesOf = (type: ts.Type, checker: ts.TypeChecker): readonly (readonly ts.Symbol[])[] => {
  const all = (type.isUnion() ? type.types : [type]).flatMap((part) => checker.getPropertiesOfType(part));
  const there = all.filter((one) => typeNodeOf(one)?.kind !== ts.SyntaxKind.NeverKeyword);
  const names = new Set(there.map(({ name }) => name));
  return [...names].map((name) => there.filter((one) => one.name === name));
};

/** Types that are written somewhere else: their options stand there. */
const ELSEWHERE: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.TypeReference,
  ts.SyntaxKind.FunctionType,
  ts.SyntaxKind.IndexedAccessType,
]);

/** The parts of a property's type that are objects without an exported name of options: their options stand in its rows. */
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

/** As it is written, but for aliases of functions and of unions of texts, which are spelled out, and `undefined`, which every option may be. */
const textOf = (node: ts.TypeNode, checker: ts.TypeChecker): string => {
  if (ts.isUnionTypeNode(node)) {
    const parts = node.types.map((one) => textOf(one, checker)).filter((one) => one !== 'undefined');
    return parts.join(' | ');
  }
  if (ts.isTypeLiteralNode(node) || ts.isIntersectionTypeNode(node)) return 'object';
  if (ts.isParenthesizedTypeNode(node)) return textOf(node.type, checker);
  if (ts.isTypeReferenceNode(node)) {
    const type = checker.getTypeFromTypeNode(node);
    const texts = type.isUnion() && type.types.every((one) => one.isStringLiteral()) && type.types.length < 5;
    if (texts) return type.types.map((one) => `'${(one as ts.StringLiteralType).value}'`).join(' | ');
    const [alias] = type.aliasSymbol?.declarations ?? [];
    if (alias && ts.isTypeAliasDeclaration(alias) && isOfFunctions(alias.type)) return alias.type.getText();
  }
  return node.getText();
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
