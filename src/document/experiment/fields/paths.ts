// Measures plain documents, and reads and writes them by dotted path. Takes hostile input.

export type Document = { [name: string]: unknown }
export const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One thing wrong with a document. */
export interface Issue {
  /** Dotted, e.g. 'phases.1.target_layer'; '' = the document itself. */
  readonly path: string
  readonly message: string
  /** The other fields of the rule that is broken. */
  readonly involved?: readonly string[]
}

/** Levels and values of an experiment. */
const MAX_DEPTH = 8
const MAX_NODES = 2000
const MAX_ITEMS = 64
const MAX_TEXT = 4000
const FORBIDDEN = ['__proto__', 'constructor', 'prototype']

/** Refuses what is too large, too deep or no plain data, before any schema looks at it. */
export function sizeIssue(
  document: unknown,
  mostDepth = MAX_DEPTH,
  mostNodes = MAX_NODES,
): Issue | undefined {
  let nodes = 0
  const visit = (node: unknown, path: string, depth: number): Issue | undefined => {
    if (++nodes > mostNodes) return { path, message: `expected at most ${mostNodes} values in all` }
    if (depth > mostDepth) return { path, message: `expected at most ${mostDepth} levels` }
    if (typeof node === 'string' && node.length > MAX_TEXT)
      return { path, message: `expected at most ${MAX_TEXT} characters, got ${node.length}` }
    if (typeof node !== 'object' || node === null) return undefined
    const names = Array.isArray(node) && node.length > MAX_ITEMS ? node : Object.keys(node)
    if (names.length > MAX_ITEMS)
      return { path, message: `expected at most ${MAX_ITEMS} entries, got ${names.length}` }
    for (const name of names) {
      const below = path === '' ? name.slice(0, 40) : `${path}.${name.slice(0, 40)}`
      if (FORBIDDEN.includes(name)) return { path: below, message: 'is no field of an experiment' }
      const issue = visit((node as Document)[name], below, depth + 1)
      if (issue) return issue
    }
    return undefined
  }
  return visit(document, '', 0)
}

/** The value at a dotted path; undefined where there is none. */
export function valueAt(document: unknown, path: string): unknown {
  let node = document
  for (const name of path.split('.')) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined
    node = (node as Document)[name]
  }
  return node
}

const NAME = /^([a-z][a-z0-9_]*|\d{1,3})$/

/** Sets the value at a dotted path of a plain document, in place; `undefined` removes it. False
 * when the path can not be followed. */
export function setAt(document: unknown, path: string, value: unknown): boolean {
  const names = path.split('.')
  const last = names.pop() as string
  if (!NAME.test(last) || FORBIDDEN.includes(last)) return false
  let node = document as Document
  for (const name of names) {
    if (!NAME.test(name) || FORBIDDEN.includes(name)) return false
    if (!Object.hasOwn(node, name)) {
      if (Array.isArray(node)) return false
      node[name] = {}
    }
    if (typeof node[name] !== 'object' || node[name] === null) return false
    node = node[name] as Document
  }
  if (Array.isArray(node) && !(Number(last) < node.length)) return false
  if (value === undefined && !Array.isArray(node)) delete node[last]
  else node[last] = value
  return true
}
