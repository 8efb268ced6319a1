// biome-ignore-all lint/correctness/noUnusedVariables lint/correctness/noUndeclaredVariables: guest_code.ts joins these texts into one.
// What runs inside the sandbox, beside a person's program. It is loaded as text: into a worker of an opaque frame on the page, and into a
// process without rights on the command line. It takes away what the program has no use for, makes time and chance repeat, and answers each
// call with one line of JSON. Nothing here keeps a program in; the frame's policy and the process's permissions do.

/** What a program keeps of its global scope: the language itself, and texts. */
const KEPT = new Set(
  (
    'Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error ' +
    'AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError JSON Math Intl ArrayBuffer Uint8Array ' +
    'Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array Uint8ClampedArray ' +
    'BigUint64Array BigInt64Array DataView Map Set WeakMap WeakSet WeakRef FinalizationRegistry BigInt Proxy Reflect ' +
    'Iterator decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite isNaN globalThis self ' +
    'console TextEncoder TextDecoder URL structuredClone atob btoa queueMicrotask WebAssembly'
  ).split(' '),
)
/** What Pyodide uses while a program runs. */
const KEPT_FOR_PYTHON = ['performance', 'crypto', 'setTimeout', 'clearTimeout', 'location']

/** 1 January 2025: what every clock says. */
const NOW = 1735689600000
/** A line of them fits, however they are written in JSON. */
const LONGEST_TEXT = 10000
const MOST_ENTRIES = 64
const MOST_MEMORY = 2 ** 29
const { parse, stringify } = JSON

/** The last of what a program printed in one call. */
const MOST_PRINTED = 1000
const output = {
  text: '',
  print(text) {
    output.text = (output.text + text.slice(-MOST_PRINTED)).slice(-MOST_PRINTED)
  },
  /** Adds it to a line, and begins anew. */
  into(line) {
    const printed = output.text
    output.text = ''
    return printed === '' ? line : { ...line, printed }
  },
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

/** Numbers from 0 to 1 that begin anew for every call (mulberry32). */
const chance = {
  state: 0,
  next() {
    chance.state = (chance.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(chance.state ^ (chance.state >>> 15), 1 | chance.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  },
}

/** Deletes every global that is not kept, also those that the scope inherits. */
function confine(scope, kept) {
  for (let own = scope; own && own !== Object.prototype; own = Object.getPrototypeOf(own))
    for (const name of Object.getOwnPropertyNames(own)) {
      if (kept.has(name)) continue
      try {
        delete own[name]
        if (name in own) Object.defineProperty(own, name, { value: undefined })
      } catch {
        // What cannot be taken away is harmless by itself: NaN, or the constructor of the scope.
      }
    }
}

/** Time stands still, and chance is the same in every run. */
function freezeTime(scope) {
  const Real = scope.Date
  function Frozen(...args) {
    if (!new.target) return new Real(NOW).toString()
    return Reflect.construct(Real, args.length > 0 ? args : [NOW], new.target)
  }
  Frozen.prototype = Real.prototype
  Real.prototype.constructor = Frozen
  Object.assign(Frozen, { now: () => NOW, parse: Real.parse, UTC: Real.UTC })
  scope.Date = Frozen
  scope.Math.random = chance.next
  const print = (...values) => output.print(`${values.map(printable).join(' ')}\n`)
  scope.console = { log: print, info: print, warn: print, error: print, debug: print }
  if (scope.performance) scope.performance = { now: () => 0, timeOrigin: NOW }
  if (!scope.crypto) return
  const getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    bytes.forEach((_, i) => {
      bytes[i] = Math.floor(256 * chance.next())
    })
    return array
  }
  Object.defineProperty(scope, 'crypto', { value: { getRandomValues } })
}

/** Beginning and end of a longer text: whoever cuts it shorter, on whichever side, cuts what was there. */
const shortened = (text) =>
  text.length <= LONGEST_TEXT
    ? text
    : text.slice(0, LONGEST_TEXT / 2) + text.slice(-LONGEST_TEXT / 2)

/** What a program returned, as JSON of a bounded size. A number that is none is a text. */
function plain(value, depth = 0) {
  if (typeof value === 'number') return Number.isFinite(value) ? value : `${value}`
  if (typeof value === 'boolean' || value === null || value === undefined) return value ?? null
  if (typeof value === 'string') return shortened(value)
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  if (depth === 3) return '…'
  if (typeof value.then === 'function') return 'a promise'
  if (Array.isArray(value)) return value.slice(0, MOST_ENTRIES).map((one) => plain(one, depth + 1))
  const found = Object.create(null)
  for (const name of Object.keys(value).slice(0, MOST_ENTRIES))
    found[name.slice(0, 100)] = plain(value[name], depth + 1)
  return found
}

const messageOf = (error) => {
  try {
    return `${error?.message ?? error}`.slice(0, 2000)
  } catch {
    return 'an error that cannot be read'
  }
}

/** Remembers the global scope and the built-in objects in it; what is returned puts back what was changed in them since. */
function rememberGlobals() {
  const { ownKeys, getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect
  const isSame = (a, b) => a && Object.is(a.value, b.value) && a.get === b.get && a.set === b.set
  const named = [...KEPT].flatMap((name) => {
    const found = globalThis[name]
    return Object(found) === found ? [found, found.prototype ?? found] : []
  })
  const before = [...new Set([globalThis, ...named])].map((owner) => [
    owner,
    new Map(ownKeys(owner).map((name) => [name, getOwnPropertyDescriptor(owner, name)])),
  ])
  return () => {
    for (const [owner, properties] of before) {
      for (const name of ownKeys(owner))
        if (!properties.has(name) && !deleteProperty(owner, name))
          throw new TypeError(`an earlier batch left ${String(name)} where it cannot be taken away`)
      for (const [name, property] of properties)
        if (!isSame(getOwnPropertyDescriptor(owner, name), property))
          defineProperty(owner, name, property)
    }
  }
}

/** A program in JavaScript: a text that declares the function `entry`. */
function javascriptProgram(source, entry) {
  let putBack
  const plainSource = source.replace(
    /^export\s+(?:default\s+)?(?=(?:async\s+)?function\b|const\b|let\b|class\b)/gm,
    '',
  )
  let run
  return {
    begin() {
      if (putBack) putBack()
      // What the guest itself takes away is gone by now.
      else putBack = rememberGlobals()
      const found = new Function(
        `"use strict";${plainSource}\n;return typeof ${entry} === 'function' ? ${entry} : undefined`,
      )()
      if (!found) throw new TypeError(`the program declares no function ${entry}`)
      run = found
    },
    call: (args) => plain(run(...Object.values(args))),
  }
}

/** Python's memory may grow up to a limit; beyond it the program gets a MemoryError. */
function limitMemory() {
  const { grow } = WebAssembly.Memory.prototype
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + 65536 * pages > MOST_MEMORY) throw new RangeError('out of memory')
    return grow.call(this, pages)
  }
}

/** Of Python's modules beside its own library. */
const NO_MODULES = { offered: { there: [], fetched_later: {} } }

/**
 * A program in Python, in Pyodide. `files`: its parts by name, as bytes. `load` imports one of them, a module.
 */
async function pythonProgram(scope, { source, name, entry, files, modules = NO_MODULES }, load) {
  const folder = 'https://pyodide.invalid/'
  const { fetch } = scope
  scope.fetch = async (address) => {
    const bytes = files[`${address}`.slice(folder.length)]
    return { ok: true, arrayBuffer: async () => bytes }
  }
  WebAssembly.instantiateStreaming = async (response, imports) =>
    WebAssembly.instantiate(await (await response).arrayBuffer(), imports)
  limitMemory()
  const { loadPyodide } = await load('pyodide.mjs')
  const { default: createPyodideModule } = await load('pyodide.asm.mjs')
  // Pyodide wants to see its own version there. No package of it can be installed.
  const { info } = parse(new TextDecoder().decode(files['pyodide-lock.json']))
  const pyodide = await loadPyodide({
    indexURL: folder,
    createPyodideModule,
    lockFileContents: { info, packages: {} },
    env: { PYTHONHASHSEED: '0', HOME: '/home/pyodide' },
    jsglobals: {},
    stdout: (line) => output.print(`${line}\n`),
    stderr: (line) => output.print(`${line}\n`),
    stdin: () => null,
  })
  scope.fetch = fetch
  const given = { LONGEST_TEXT, MOST_ENTRIES, OFFERED: pyodide.toPy(modules.offered) }
  for (const [key, value] of Object.entries(given)) pyodide.globals.set(key, value)
  pyodide.runPython(PYTHON)
  const [begin, take, call] = ['_begin', '_take', '_call'].map((key) => pyodide.globals.get(key))
  const told = (text) => {
    const { error, value } = parse(text)
    if (error !== undefined) throw new Error(error)
    return value
  }
  return {
    begin(calls) {
      const wants_all = told(begin(source, name, entry))
      if (wants_all) take(stringify(calls.map(({ args }) => args)))
    },
    call: (args) => told(call(stringify(args), name, entry)),
  }
}

/** The answer to one call as a line. `is_fatal`: nothing more can be asked. */
function answer(program, { index, args }) {
  chance.state = 0
  try {
    return stringify(output.into({ index, value: program.call(args) }))
  } catch (error) {
    const is_fatal = `${error?.name}`.includes('Fatal') || error?.pyodide_fatal_error === true
    return stringify(output.into({ index, error: messageOf(error), is_fatal }))
  }
}

/** Answers calls, given as JSON, one line for each as soon as it is known. The program begins anew with every batch of them. */
function* answers(program, text) {
  const calls = parse(text)
  try {
    chance.state = 0
    program.begin(calls)
  } catch (error) {
    for (const { index } of calls) yield stringify(output.into({ index, error: messageOf(error) }))
    return
  }
  for (const call of calls) yield answer(program, call)
}
