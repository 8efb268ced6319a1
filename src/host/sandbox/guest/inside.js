// biome-ignore-all lint/correctness/noUnusedVariables lint/correctness/noUndeclaredVariables: guest_code.ts joins these texts into one.
// What runs inside QuickJS before a person's program in JavaScript: it calls the program's function and makes plain JSON of what that returns.
// The program shares every built-in object with it, so it works with functions that it took before the program ran, and with objects that
// inherit nothing. quickjs.js hands this text to the engine, in a function of its own that
// knows the limits; it never runs in the host.

const bind = Function.prototype.call.bind(Function.prototype.bind, Function.prototype.call)
const { parse, stringify } = JSON
const { keys, create, setPrototypeOf, values } = Object
const { isArray } = Array
const { isFinite: isFiniteNumber } = Number
const { imul, floor } = Math
const { apply } = Reflect
const slice = bind(String.prototype.slice)
const indexOf = bind(String.prototype.indexOf)
const bytesOf = Uint8Array
const OwnError = Error

/** Numbers from 0 to 1 that begin again with every call (mulberry32). */
let state = 0
function chance() {
  state = (state + 0x6d2b79f5) | 0
  let mixed = imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
}

/** An array that inherits nothing: no setter and no toJSON of the program sees it. */
const list = () => setPrototypeOf([], null)

/** What a program returned, as JSON of a bounded size. A number that is none is a text. */
function plain(value, depth = 0) {
  if (typeof value === 'number') return isFiniteNumber(value) ? value : `${value}`
  if (typeof value === 'boolean' || value === null || value === undefined) return value ?? null
  if (typeof value === 'string') return shortened(value)
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  if (depth === 3) return '…'
  if (typeof value.then === 'function') return 'a promise'
  const names = keys(value)
  const is_list = isArray(value)
  const found = is_list ? list() : create(null)
  const count = is_list ? value.length : names.length
  for (let i = 0; i < count && i < MOST_ENTRIES; i++)
    if (is_list) found[i] = plain(value[i], depth + 1)
    else found[slice(names[i], 0, 100)] = plain(value[names[i]], depth + 1)
  return found
}

/** Beginning and end of a longer text: whoever cuts it shorter, on whichever side, cuts what was there. */
const shortened = (text) =>
  text.length <= LONGEST_TEXT
    ? text
    : slice(text, 0, LONGEST_TEXT / 2) + slice(text, -LONGEST_TEXT / 2)

let printed = ''
function print(...all) {
  let text = ''
  for (let i = 0; i < all.length; i++) text += (i > 0 ? ' ' : '') + printable(all[i])
  printed = slice(`${printed}${slice(text, -MOST_PRINTED)}\n`, -MOST_PRINTED)
}

/** A value as console.log shows it, more or less. */
function printable(value) {
  if (typeof value === 'string') return value
  try {
    return stringify(plain(value)) ?? ''
  } catch {
    return 'a value that cannot be read'
  }
}

let file = ''
/** What was thrown, with the line of the program where it happened. */
function messageOf(error) {
  // QuickJS throws null where it has no memory left for an error.
  if (error === null) return 'out of memory'
  try {
    if (!(error instanceof OwnError)) return slice(`${error?.message ?? error}`, 0, 2000)
    const line = lineOf(`${error.stack}`)
    const place = line === '' ? '' : `${file}, line ${line}: `
    return slice(`${place}${error.name}: ${error.message}`, 0, 2000)
  } catch {
    return 'an error that cannot be read'
  }
}

/** The first line of the program in a stack. */
function lineOf(stack) {
  const at = indexOf(stack, `${file}:`)
  if (at < 0) return ''
  let end = at + file.length + 1
  while (stack[end] >= '0' && stack[end] <= '9') end++
  return slice(stack, at + file.length + 1, end)
}

/** An answer as a text. What was printed since the last one goes with it. */
function said(name, value) {
  const answer = create(null)
  answer[name] = value
  if (printed !== '') answer.printed = printed
  printed = ''
  return stringify(answer)
}

Math.random = chance
const print_only = { log: print, info: print, warn: print, error: print, debug: print }
const getRandomValues = (array) => {
  const bytes = new bytesOf(array.buffer, array.byteOffset, array.byteLength)
  for (let i = 0; i < bytes.length; i++) bytes[i] = floor(256 * chance())
  return array
}
for (const [name, value] of [
  ['console', print_only],
  ['crypto', { getRandomValues }],
])
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })

let run
const tasks = create(null)
tasks.file = (name) => {
  file = name
  return said('value', null)
}
tasks.failed = (error) => said('error', messageOf(error))
tasks.entry = (found) => {
  run = found
  return said('value', typeof run === 'function')
}
tasks.call = (text) => {
  state = 0
  try {
    return said('value', plain(apply(run, undefined, values(parse(text)))))
  } catch (error) {
    return said('error', messageOf(error))
  }
}
/** What quickjs.js asks. */
const ask = (task, given) => tasks[task](given)
