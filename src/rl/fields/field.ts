// Declares a field of the experiment once, with all that validation, forms and links need to know.
import * as z from 'zod/mini'
import { hasHidden } from './hidden.ts'

export type FieldKind = 'integer' | 'number' | 'boolean' | 'select' | 'text'
/** null = the field is without a value, where it may be. */
export type FieldValue = string | number | boolean | null

/** A choice of a select. */
export interface FieldOption {
  readonly value: string | number | null
  readonly label: string
}

/** Names of a field in other systems; one that has no name for it leaves it out, or refuses the
 * job, with this reason. */
export interface Elsewhere {
  readonly verl?: string
  readonly trl?: string
  readonly lost?: string
  readonly refused?: string
}

/** What is said about a field, apart from its place in the document. */
export interface FieldInfo {
  readonly label: string
  /** One sentence: what it does, and what the surprising values mean. */
  readonly help: string
  /** '' where there is none. */
  readonly unit: string
  readonly kind: FieldKind
  readonly min?: number
  readonly max?: number
  /** What one press of an arrow key changes it by. */
  readonly step?: number
  readonly scale?: 'linear' | 'log'
  readonly options?: readonly FieldOption[]
  readonly default: FieldValue
  /** Only where the field may be without a value (null): how documents wrote that before, which is
   * read as null. Its default may be another value. */
  readonly none?: string | number
  /** What becomes of the field in a job for another system, where jobs/settings says nothing more
   * of it. */
  readonly elsewhere?: Elsewhere
  /** Whether a change takes effect in a running run; false = it needs a restart. */
  readonly live: boolean
}

/** One field: what is said about it, and the schema that holds it to that. */
export interface Leaf<T> {
  readonly info: FieldInfo
  readonly schema: z.ZodMiniType<T>
}

/** The fields of T, one leaf each; a pair of numbers is two leaves, an object is a tree. */
export type Tree<T> = {
  readonly [K in keyof T]: T[K] extends FieldValue
    ? Leaf<T[K]>
    : T[K] extends readonly unknown[]
      ? readonly [Leaf<number>, Leaf<number>]
      : Tree<T[K]>
}

/** T with everything optional, at any depth: what a phase may override. A pair is overridden as a
 * whole. */
export type Overrides<T> = {
  readonly [K in keyof T]?:
    | (T[K] extends FieldValue | readonly unknown[] ? T[K] : Overrides<T[K]>)
    | undefined
}

type Said = Pick<FieldInfo, 'label' | 'help' | 'elsewhere'> & Partial<Pick<FieldInfo, 'live'>>
type Numeric = Said & {
  readonly min: number
  readonly max: number
  readonly step?: number
  readonly unit?: string
  readonly scale?: 'linear' | 'log'
}

/** A value as a message shows it: short, on one line. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return `${value}`
  if (typeof value === 'string')
    return value.length > 40 ? `'${value.slice(0, 40)}…'` : `'${value}'`
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`
}

/** An error of a schema: what was expected, and what came. */
export const expected = (what: string) => (issue: { input?: unknown }) =>
  `expected ${what}, got ${show(issue.input)}`

/** A field that may be without a value; `none` is how documents wrote that before. */
interface OrNone<T> {
  readonly default: T | null
  readonly none: string | number
}
interface Filled<T> {
  readonly default: T
  readonly none?: never
}

/** The schema of a field that may be null where `none` is given. It is the one place that reads the
 * old word for no value; `isFree` = any text is a value, 'null' too. */
function orNone<T>(
  what: string,
  none: string | number | undefined,
  make: (error: ReturnType<typeof expected>) => z.ZodMiniType<T>,
  isFree = false,
): z.ZodMiniType<T> {
  if (none === undefined) return make(expected(what))
  const read = (value: unknown) =>
    value === none ||
    (value === 'null' && !isFree) ||
    (none === '' && typeof value === 'string' && value.trim() === '')
      ? null
      : value
  const own = z.nullable(make(expected(`${what}, or null`)))
  return z.pipe(z.transform(read), own) as unknown as z.ZodMiniType<T>
}

/** The range of a field. -0 becomes 0: a link writes both alike. */
const within = (min: number, max: number, error: ReturnType<typeof expected>) =>
  [
    z.minimum(min, { error }),
    z.maximum(max, { error }),
    z.overwrite((value: number) => value + 0),
  ] as const

/** A whole number from `min` to `max`. */
export function integer(said: Numeric & OrNone<number>): Leaf<number | null>
export function integer(said: Numeric & Filled<number>): Leaf<number>
export function integer(said: Numeric & (OrNone<number> | Filled<number>)): Leaf<number> {
  const { min, max, none } = said
  const schema = orNone(`a whole number from ${min} to ${max}`, none, (error) =>
    z.int({ error }).check(...within(min, max, error)),
  )
  return { info: { unit: '', step: 1, live: false, ...said, kind: 'integer' }, schema }
}

/** A number from `min` to `max`. */
export function number(said: Numeric & OrNone<number>): Leaf<number | null>
export function number(said: Numeric & Filled<number>): Leaf<number>
export function number(said: Numeric & (OrNone<number> | Filled<number>)): Leaf<number> {
  const { min, max, none } = said
  const schema = orNone(`a number from ${min} to ${max}`, none, (error) =>
    z.number({ error }).check(...within(min, max, error)),
  )
  return { info: { unit: '', live: false, ...said, kind: 'number' }, schema }
}

/** A switch. */
export function boolean(said: Said & { readonly default: boolean }): Leaf<boolean> {
  const schema = z.boolean({ error: expected('true or false') })
  return { info: { unit: '', ...said, kind: 'boolean', live: false }, schema }
}

/** One of a few words, the first of which is the default. `options` maps each to its label. */
export function select<const T extends string>(
  said: Said,
  options: Readonly<Record<T, string>>,
): Leaf<T> {
  const words = Object.keys(options) as T[]
  const schema = z.enum(words, { error: expected(words.map((w) => `'${w}'`).join(' or ')) })
  return {
    info: {
      ...said,
      unit: '',
      kind: 'select',
      options: words.map((value) => ({ value, label: options[value] })),
      default: words[0],
      live: false,
    },
    schema: schema as unknown as z.ZodMiniType<T>,
  }
}

/** One of a few words or, where no default is said, none of them: the choice `none`, as documents
 * wrote it before. */
export function selectOrNone<const T extends string>(
  { none, default: usual = null, ...said }: Said & Pick<OrNone<T>, 'none'> & Partial<OrNone<T>>,
  options: Readonly<Record<T, string>>,
): Leaf<T | null> {
  const { info, schema } = select(said, options)
  const choices = [{ value: null, label: String(none) }, ...(info.options ?? [])]
  return {
    info: { ...info, options: choices, default: usual, none },
    schema: orNone('', none, () => schema) as z.ZodMiniType<T | null>,
  }
}

type Text = Said & { readonly max: number }
interface Rule {
  readonly holds: (text: string) => boolean
  readonly expected: string
}

/** Plain text; `rule` says what else holds of it. */
export function text(said: Text & OrNone<string>, rule?: Rule): Leaf<string | null>
export function text(said: Text & Filled<string>, rule?: Rule): Leaf<string>
export function text(said: Text & (OrNone<string> | Filled<string>), rule?: Rule): Leaf<string> {
  const plain = (s: string) => s.length <= said.max && s.isWellFormed() && !hasHidden(s)
  const holds = (s: string) => plain(s) && (rule?.holds(s) ?? true)
  const what = rule?.expected ?? `plain text of at most ${said.max} characters`
  const make = (error: ReturnType<typeof expected>) =>
    z.string({ error }).check(z.refine(holds, { error }))
  const schema = orNone(what, said.none, make, rule === undefined)
  return { info: { unit: '', ...said, kind: 'text', live: false }, schema }
}

type AnyTree = { readonly [name: string]: unknown }

const isLeaf = (node: unknown): node is Leaf<FieldValue> =>
  typeof node === 'object' && node !== null && 'info' in node
const isPair = (node: unknown): node is readonly [Leaf<number>, Leaf<number>] => Array.isArray(node)

/** What is said of a field that there is not, with the list of those that there are. */
export const unknownField = (legal: string): string =>
  `unknown or not yet supported; legal here: ${legal}`

/** A strict object: unknown fields are refused with a message that lists the legal ones. */
function strict(shape: Record<string, z.ZodMiniType>): z.ZodMiniType {
  const legal = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? unknownField(legal)
        : `expected an object with ${legal}, got ${show(issue.input)}`,
  })
}

function pair(leaves: readonly [Leaf<number>, Leaf<number>]): z.ZodMiniType {
  const [a, b] = leaves
  return z.tuple([a.schema, b.schema], { error: expected('a pair of numbers') })
}

/** Objects told apart by one field; a wrong one is refused with a message that lists the legal
 * ones. */
export function oneOf(
  discriminator: string,
  words: readonly string[],
  schemas: readonly z.ZodMiniType[],
): z.ZodMiniType {
  const legal = words.map((word) => `'${word}'`).join(' or ')
  return z.discriminatedUnion(discriminator, schemas as never, {
    error: ({ code, input }) =>
      code === 'invalid_union'
        ? `expected ${legal}, got ${show((input as Record<string, unknown>)[discriminator])}`
        : `expected an object whose ${discriminator} is ${legal}, got ${show(input)}`,
  })
}

/** Absent fields get their default. `fixed` is added as it is. */
export function filled<T>(
  tree: Tree<T>,
  fixed: Record<string, z.ZodMiniType> = {},
): z.ZodMiniType<T> {
  const shape: Record<string, z.ZodMiniType> = { ...fixed }
  for (const [name, node] of Object.entries(tree as AnyTree)) {
    if (isLeaf(node)) shape[name] = z._default(node.schema, node.info.default as never)
    else if (isPair(node))
      shape[name] = z._default(pair(node), [node[0].info.default, node[1].info.default])
    else shape[name] = z.prefault(filled(node as Tree<object>), {})
  }
  return strict(shape) as z.ZodMiniType<T>
}

/** Absent fields stay absent. */
export function partial<T>(tree: Tree<T>): z.ZodMiniType<Overrides<T>> {
  const shape: Record<string, z.ZodMiniType> = {}
  for (const [name, node] of Object.entries(tree as AnyTree)) {
    if (isLeaf(node)) shape[name] = z.optional(node.schema)
    else if (isPair(node)) shape[name] = z.optional(pair(node))
    else shape[name] = z.optional(partial(node as Tree<object>))
  }
  return strict(shape) as z.ZodMiniType<Overrides<T>>
}

/** Every leaf below a tree, with its dotted path. */
export function leavesOf(tree: unknown, path = ''): [string, Leaf<FieldValue>][] {
  if (isLeaf(tree)) return [[path, tree]]
  return Object.entries(tree as AnyTree).flatMap(([name, node]) =>
    leavesOf(node, path === '' ? name : `${path}.${name}`),
  )
}

/** What a tree is without a word: the default of every field. */
export function defaultsOf<T>(tree: Tree<T>): T {
  const read = (node: unknown): unknown => {
    if (isLeaf(node)) return node.info.default
    if (isPair(node)) return node.map(({ info }) => info.default)
    return Object.fromEntries(Object.entries(node as AnyTree).map(([k, v]) => [k, read(v)]))
  }
  return read(tree) as T
}
