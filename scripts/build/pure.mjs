/**
 * A plugin that marks the values of a module's constants as free of side effects, which `sideEffects: false` says of our modules. With
 * many modules in one file a bundler could not tell otherwise, and importing one function would bring all constants of the file.
 */
export const pureConstants = {
  name: 'pure constants',
  renderChunk(code, _chunk, _options, { magicString }) {
    const constants = this.parse(code)
      .body.filter(({ type }) => type === 'VariableDeclaration')
      .flatMap(({ declarations }) => declarations);
    for (const { id, init } of constants) {
      if (!init || isPlain(init) || /\bawait\b/.test(code.slice(init.start, init.end))) continue;
      magicString.appendLeft(init.start, '/* @__PURE__ */ (() => (').appendRight(init.end, '))()');
      // A class takes its name from the constant, unless it has one.
      if (init.type === 'ClassExpression' && !init.id)
        magicString.appendLeft(init.start + 'class'.length, ` ${id.name}`);
    }
    return magicString;
  },
};

/** Bundlers see by themselves that these have no side effects. */
const isPlain = ({ type, elements, argument, properties, body }) => {
  if (type === 'ArrayExpression') return elements.every(isPlain);
  if (type === 'UnaryExpression') return isPlain(argument);
  if (type === 'ObjectExpression')
    return properties.every(({ value, computed }) => value && !computed && isPlain(value));
  if (type === 'ClassExpression') return !body.body.some((member) => member.computed || member.static);
  return /^(Literal|Identifier|FunctionExpression|ArrowFunctionExpression)$/.test(type);
};
