// Reads the lines that a guest writes. A guest is never trusted: every field is checked before
// anything uses it.

/** A line of a guest: that it has started, why it has not, or the answer to the call of that
 * index. */
export type GuestLine =
  | { readonly ready: true }
  | { readonly ready: false; readonly error: string }
  | ({ readonly index: number; readonly printed?: string } & (
      | { readonly value: unknown }
      | { readonly error: string; readonly is_fatal: boolean }
    ))

/** Characters of what a call printed, and of an error: the guest sends no more. */
const MOST_PRINTED = 1000
const MOST_ERROR = 2000
/** A guest cuts what a program returned at less. */
const DEEPEST = 8

/** A line as its fields; undefined for any other text. */
export function readLine(text: string): GuestLine | undefined {
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof said !== 'object' || said === null || Array.isArray(said)) return undefined
  const given: ReadonlyMap<string, unknown> = new Map(Object.entries(said))
  return given.has('ready') ? readStart(given) : readAnswer(given)
}

function readStart(given: ReadonlyMap<string, unknown>): GuestLine | undefined {
  if (given.get('ready') === true) return { ready: true }
  const error = given.get('error')
  return typeof error === 'string' ? { ready: false, error: error.slice(0, MOST_ERROR) } : undefined
}

function readAnswer(given: ReadonlyMap<string, unknown>): GuestLine | undefined {
  const index = given.get('index')
  const printed = given.get('printed') ?? ''
  const is_fatal = given.get('is_fatal') ?? false
  if (!Number.isSafeInteger(index) || typeof printed !== 'string' || typeof is_fatal !== 'boolean')
    return undefined
  const common = {
    index: index as number,
    ...(printed === '' ? {} : { printed: printed.slice(-MOST_PRINTED) }),
  }
  const error = given.get('error')
  if (typeof error === 'string') return { ...common, error: error.slice(0, MOST_ERROR), is_fatal }
  const value = given.get('value') ?? null
  return given.has('error') || !isShallow(value, DEEPEST) ? undefined : { ...common, value }
}

/** Whether no object lies deeper than `depth` in a value of JSON. */
const isShallow = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 && Object.values(value).every((own) => isShallow(own, depth - 1)))
