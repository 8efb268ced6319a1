// Reads the texts for people that a source file holds, in their order: those of its elements, of
// their attributes, and of its other strings.
import { parseSync } from 'vite'
import { bare, isWritten, numbered, textsOf } from './alternatives.mjs'
import { holdsNoText, holdsText, isText } from './is_text.mjs'

/** Elements whose content is code. */
const CODE_ELEMENTS = new Set(['code', 'pre', 'kbd', 'samp', 'style', 'script', 'Formula'])
/** Calls whose texts are names, patterns or what the console shows. */
const CODE_CALLS =
  /^(console\.\w+|.*\.(querySelector(All)?|getElementById|addEventListener|removeEventListener|startsWith|endsWith|includes|indexOf|split|getContext|createElement|setAttribute|getAttribute|matchMedia|getItem|setItem|removeItem|localeCompare|padStart|padEnd|register|createObjectStore|objectStore|transaction)|fetch|RegExp|defineKernel|require|matchMedia|addEventListener|remembered|performance\.\w+|later|lazyPart|describe|BigInt|postMessage|import)$/

const SKIPPED = new Set([
  'ImportDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSTypeAliasDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAnnotation',
  'TSTypeParameterInstantiation',
  'TSTypeParameterDeclaration',
  'TSEnumDeclaration',
  'JSXEmptyExpression',
  'TaggedTemplateExpression',
])

const nameOf = (node) => {
  if (!node) return ''
  if (/Identifier$/.test(node.type)) return node.name
  if (node.type === 'Literal') return String(node.value)
  if (/MemberExpression$/.test(node.type)) return `${nameOf(node.object)}.${nameOf(node.property)}`
  if (node.type === 'JSXNamespacedName') return `${nameOf(node.namespace)}:${nameOf(node.name)}`
  return ''
}

/** A name of one small word is a name in code. */
const shownAs = (name, isShown) =>
  /^(name|names|group|text)$/.test(name)
    ? { isSaid: false, isShown: 'capital' }
    : { isSaid: holdsText(name), isShown }

/** JSX drops line breaks and the indents beside them. */
export function jsxText(value) {
  const lines = value.replaceAll('\t', ' ').split(/\r?\n/)
  return lines
    .map((line, i) => {
      const start = i === 0 ? line : line.trimStart()
      return i === lines.length - 1 ? start : start.trimEnd()
    })
    .filter((line, i) => line !== '' || lines.length === 1 || i < 0)
    .join(' ')
}

class Texts {
  /** `isUi`: words of one letter case and more are likely shown. */
  constructor(isUi) {
    this.isUi = isUi
    this.found = []
  }

  add(texts, at, context) {
    for (const raw of texts) {
      const text = numbered(raw)
      if (isText(text, context)) this.found.push({ text, at, isError: context.isError === true })
    }
  }

  /** A text and what lies in its holes. */
  written(node, context) {
    const { texts, asides } = textsOf([node])
    this.add(texts, node.start, context)
    // A hole is read as what it is: where it is a choice, each branch is a text of its own.
    for (const aside of asides) this.visit(aside, { ...context })
  }

  element(node, context) {
    const name = node.type === 'JSXElement' ? nameOf(node.openingElement.name) : ''
    for (const attribute of node.openingElement?.attributes ?? [])
      if (!(nameOf(attribute.name) === 'name' && /^[a-z]/.test(name)))
        this.attribute(attribute, context)
    if (CODE_ELEMENTS.has(name)) return
    const parts = node.children.map((child) => {
      if (child.type === 'JSXText') return jsxText(child.value)
      return child.type === 'JSXExpressionContainer' ? child.expression : child
    })
    const inside = { ...context, isSaid: true, isShown: true }
    const { texts, asides } = textsOf(parts)
    this.add(texts, node.start, inside)
    for (const aside of asides) this.visit(aside, { ...context, isSaid: false, isShown: true })
  }

  attribute(node, context) {
    if (node.type === 'JSXSpreadAttribute') return this.visit(node.argument, context)
    const name = nameOf(node.name)
    if (!node.value || holdsNoText(name)) return undefined
    return this.visit(node.value, { ...context, ...shownAs(name, false) })
  }

  property(node, context) {
    const name = nameOf(node.key)
    if (node.computed) this.visit(node.key, { ...context, isSaid: false, isShown: false })
    // A field of that name may be made by a call, which says what it is.
    if (holdsNoText(name))
      return node.value?.type === 'CallExpression'
        ? this.visit(node.value, { ...context, isSaid: false, isShown: false })
        : undefined
    return this.visit(node.value, { ...context, ...shownAs(name, this.isUi) })
  }

  call(node, context) {
    const name = nameOf(node.callee)
    if (CODE_CALLS.test(name)) {
      // But functions that are given to it may say something.
      for (const argument of node.arguments)
        if (/Function|Object/.test(argument.type)) this.visit(argument, context)
      return
    }
    this.visit(node.callee, context)
    for (const argument of node.arguments)
      this.visit(argument, { ...context, isSaid: false, isShown: false })
  }

  visit(given, context) {
    if (!given || SKIPPED.has(given.type)) return
    const node = bare(given)
    if (node.type === 'JSXElement' || node.type === 'JSXFragment')
      return this.element(node, context)
    if (
      isWritten(node) &&
      node.type !== 'ConditionalExpression' &&
      node.type !== 'LogicalExpression'
    )
      return this.written(node, context)
    switch (node.type) {
      case 'Property':
      case 'PropertyDefinition':
        return this.property(node, context)
      case 'CallExpression':
        return this.call(node, context)
      case 'NewExpression':
        if (nameOf(node.callee) === 'RegExp' || nameOf(node.callee) === 'URL') return undefined
        return this.children(node, { ...context, isSaid: false, isShown: false })
      case 'AssignmentExpression':
        if (holdsNoText(nameOf(node.left.property))) return undefined
        return this.visit(node.right, context)
      case 'ThrowStatement':
        return this.visit(node.argument, { ...context, isError: true })
      case 'BinaryExpression':
        if (node.operator !== '+') return this.compared(node, context)
        return this.children(node, context)
      case 'SwitchCase':
        for (const inside of node.consequent) this.visit(inside, context)
        return undefined
      case 'MemberExpression':
        return this.visit(node.object, { ...context, isSaid: false, isShown: false })
      case 'ArrayExpression':
        return this.children(node, { ...context, isShown: 'capital' })
      case 'ReturnStatement':
      case 'ArrowFunctionExpression':
        return this.children(node, { ...context, isSaid: false, isShown: this.isUi })
      case 'ConditionalExpression':
        this.visit(node.test, { ...context, isSaid: false, isShown: false })
        this.visit(node.consequent, context)
        return this.visit(node.alternate, context)
      case 'ExpressionStatement':
        return node.directive ? undefined : this.children(node, context)
      default:
        return this.children(node, context)
    }
  }

  /** What is compared is a name; what is computed to be compared may say something. */
  compared(node, context) {
    for (const side of [node.left, node.right])
      if (!isWritten(side)) this.visit(side, { ...context, isSaid: false, isShown: false })
  }

  children(node, context) {
    for (const [key, value] of Object.entries(node)) {
      if (key === 'type' || key === 'typeAnnotation' || key === 'returnType') continue
      for (const child of Array.isArray(value) ? value : [value])
        if (child && typeof child === 'object' && typeof child.type === 'string')
          this.visit(child, context)
    }
  }
}

/** The texts of a file, each with where it stands and whether it is thrown. */
export function textsIn(file, source) {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  const isUi = file.startsWith('src/ui/')
  const texts = new Texts(isUi)
  texts.children(program, { isSaid: false, isShown: false })
  const lineAt = (at) => source.slice(0, at).split('\n').length
  return texts.found.map(({ text, at, isError }) => ({ text, line: lineAt(at), isError }))
}
