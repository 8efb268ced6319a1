// Reads which names of a source file have underscores, and in which places, for structure.test.ts.
import { type ESTree, Visitor } from 'vite'

export type Part = Pick<ESTree.Node, 'start' | 'end'>
type Names = Map<string, Part>

/** A word with an underscore inside that is no constant. */
const isSnake = (name: string) => /[a-z]_+[a-z]/i.test(name) && /[a-z]/.test(name)

/** Words with an underscore of a text: names of fields, metrics and kernels. */
export const snakesIn = (text: string): string[] => text.split(/\W+/).filter(isSnake)

/** The names that a pattern declares, but for those that it takes from a field of that name. */
function declaredIn(pattern: ESTree.Node): ESTree.BindingIdentifier[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern as ESTree.BindingIdentifier]
    case 'AssignmentPattern':
      return declaredIn(pattern.left)
    case 'RestElement':
      return declaredIn(pattern.argument)
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element ? declaredIn(element) : []))
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        property.type === 'Property'
          ? property.shorthand
            ? []
            : declaredIn(property.value)
          : declaredIn(property.argument),
      )
    default:
      return []
  }
}

/** `variables`: declared inside functions, parameters too. `entries`: constants of the module.
 * `members`: of types and classes. `hidden`: private members and properties of elements, which no
 * file can hold. Each of these has its first place. `given`: fields that a variable of the same
 * name is put into or taken from. `listed`: elements of arrays. `texts`: words of texts, and fields
 * of schemas. */
export function readNames(program: ESTree.Program) {
  const [variables, entries, members, hidden]: Names[] = [0, 1, 2, 3].map(() => new Map())
  const [given, listed, texts] = [0, 1, 2].map(() => new Set<string>())
  const add = (to: Names, name: string, part: Part) => {
    if (isSnake(name) && !to.has(name)) to.set(name, part)
  }
  const say = (text: string) => {
    for (const word of snakesIn(text)) texts.add(word)
  }
  const top = new Set<ESTree.Node>(
    program.body.map((node) =>
      node.type === 'ExportNamedDeclaration' && node.declaration ? node.declaration : node,
    ),
  )
  const declare = (to: Names, patterns: readonly ESTree.Node[]) => {
    for (const pattern of patterns)
      for (const identifier of declaredIn(pattern)) add(to, identifier.name, identifier)
  }
  const parameters = ({ params }: { readonly params: readonly ESTree.Node[] }) =>
    declare(variables, params)
  const member = ({ key, computed }: { readonly key: ESTree.Node; readonly computed: boolean }) => {
    if (key.type === 'Identifier' && !computed) add(members, key.name, key)
  }
  new Visitor({
    VariableDeclaration(node) {
      const ids = node.declarations.map(({ id }) => id)
      declare(top.has(node) ? entries : variables, ids)
    },
    ArrowFunctionExpression: parameters,
    FunctionDeclaration: parameters,
    FunctionExpression: parameters,
    TSFunctionType: parameters,
    TSMethodSignature(node) {
      member(node)
      parameters(node)
    },
    TSPropertySignature: member,
    PropertyDefinition: member,
    MethodDefinition: member,
    PrivateIdentifier: (node) => add(hidden, node.name, node),
    JSXAttribute({ name }) {
      if (name.type === 'JSXIdentifier') add(hidden, name.name, name)
    },
    Property({ key, shorthand }) {
      if (shorthand && key.type === 'Identifier') given.add(key.name)
    },
    ArrayExpression({ elements }) {
      for (const element of elements) if (element?.type === 'Identifier') listed.add(element.name)
    },
    ImportSpecifier({ local, imported }) {
      if (imported.type === 'Identifier' && imported.name !== local.name)
        add(variables, local.name, local)
    },
    CallExpression({ callee, arguments: [first] }) {
      if (!isSchema(callee) || first?.type !== 'ObjectExpression') return
      for (const entry of first.properties)
        if (entry.type === 'Property' && entry.key.type === 'Identifier') say(entry.key.name)
    },
    // The text of a type is a choice between names of members, not a name that is written.
    Literal({ value }) {
      if (typeof value === 'string') say(value)
    },
    TemplateElement: ({ value }) => say(value.raw),
  }).visit(program)
  return { variables, entries, members, hidden, given, listed, texts }
}

/** `z.object` and its like. */
const isSchema = (callee: ESTree.Node): boolean =>
  callee.type === 'MemberExpression' &&
  callee.object.type === 'Identifier' &&
  callee.object.name === 'z'
