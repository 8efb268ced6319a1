// Reads an expression of a source file as the texts that it can come to: `${n} ${one ? 'run' :
// 'runs'}` is `{0} run` or `{0} runs`.

/** What stands for a value or an element; it gets its number when the text is whole. */
const HOLE = '\ue000'
/** The same for an element of JSX. */
const ELEMENT = '\ue001'
/** More ways than this to say one thing are written as pieces. */
const MOST = 8

const WRAPPERS = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'JSXExpressionContainer',
])

/** An expression without what changes nothing of its value. */
export function bare(node) {
  let inner = node
  while (WRAPPERS.has(inner.type)) inner = inner.expression
  return inner
}

const isNothing = (node) =>
  node.type === 'JSXEmptyExpression' ||
  (node.type === 'Literal' && (node.value === null || typeof node.value === 'boolean')) ||
  (node.type === 'Identifier' && node.name === 'undefined')

/** Whether an expression is, or can come to, a text that is written in it. */
export function isWritten(given) {
  const node = bare(given)
  if (node.type === 'Literal') return typeof node.value === 'string'
  if (node.type === 'TemplateLiteral') return true
  if (node.type === 'BinaryExpression')
    return node.operator === '+' && (isWritten(node.left) || isWritten(node.right))
  if (node.type === 'ConditionalExpression')
    return isWritten(node.consequent) || isWritten(node.alternate)
  if (node.type === 'LogicalExpression') return node.operator === '&&' && isWritten(node.right)
  return false
}

const product = (lists) =>
  lists.reduce((before, list) => before.flatMap((text) => list.map((more) => text + more)), [''])

/** Reads one expression. `asides` collects what has no place in the text: expressions of its holes,
 * and choices that would make too many texts. */
class Reader {
  constructor(isWhole, asides) {
    this.isWhole = isWhole
    this.asides = asides
  }

  hole(node) {
    this.asides.push(node)
    return [/^JSX(Element|Fragment)$/.test(node.type) ? ELEMENT : HOLE]
  }

  either(node, branches) {
    if (this.isWhole) return branches.flatMap((branch) => this.read(branch))
    return this.hole(node)
  }

  read(given) {
    const node = bare(given)
    if (isNothing(node)) return ['']
    if (node.type === 'Literal' && /^(string|number)$/.test(typeof node.value))
      return [String(node.value)]
    if (!isWritten(node)) return this.hole(node)
    switch (node.type) {
      case 'TemplateLiteral':
        return product(
          node.quasis.flatMap(({ value }, i) => [
            [value.cooked],
            ...(i < node.expressions.length ? [this.read(node.expressions[i])] : []),
          ]),
        )
      case 'BinaryExpression':
        return product([this.read(node.left), this.read(node.right)])
      case 'ConditionalExpression':
        this.asides.push(node.test)
        return this.either(node, [node.consequent, node.alternate])
      default:
        this.asides.push(node.left)
        return [...(this.isWhole ? [''] : []), ...this.either(node, [node.right])]
    }
  }
}

/** The texts that parts in a row come to, where a string is itself, and what else lies in them. */
export function textsOf(parts) {
  for (const isWhole of [true, false]) {
    const asides = []
    const reader = new Reader(isWhole, asides)
    const texts = product(
      parts.map((part) => (typeof part === 'string' ? [part] : reader.read(part))),
    )
    if (texts.length <= MOST || !isWhole) return { texts: [...new Set(texts)], asides }
  }
}

/** With its holes numbered, and without spaces around it. An icon before a text or behind it is
 * none of it. */
export function numbered(text) {
  let count = 0
  // `$1` of a replacement is a hole too.
  return text
    .replace(/\$\d/g, HOLE)
    .replace(/^[\s\ue001]+|[\s\ue001]+$/g, '')
    .replace(/[\ue000\ue001]/g, () => `{${count++}}`)
}
