// biome-ignore-all lint/correctness/noUnusedVariables lint/correctness/noUndeclaredVariables: guest_code.ts joins these texts into one.
// What serves a person's program inside the sandbox. It is loaded as text: into a worker of an opaque frame on the page, and into a confined
// process on the command line. It takes away what the program has no use for, makes time and chance repeat, and answers each call with one
// line of JSON. It keeps no program in: an engine that holds nothing of its host does (quickjs.js), the frame's policy, and the system
// around the process.

/** What is kept of the global scope: the language itself, texts, and what the engines ask for. */
const KEPT = new Set(
  (
    'Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error ' +
    'AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError JSON Math Intl ArrayBuffer Uint8Array ' +
    'Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array Uint8ClampedArray ' +
    'BigUint64Array BigInt64Array DataView Map Set WeakMap WeakSet WeakRef FinalizationRegistry BigInt Proxy Reflect ' +
    'Iterator decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite isNaN globalThis self ' +
    'console TextEncoder TextDecoder URL structuredClone atob btoa queueMicrotask WebAssembly performance crypto setTimeout clearTimeout'
  ).split(' '),
)

/** 1 January 2025: what every clock says. */
const NOW = 1735689600000
/** A line of them fits, however they are written in JSON. */
const LONGEST_TEXT = 10000
const MOST_ENTRIES = 64
const MOST_MEMORY = 2 ** 29
/** Of an answer. The host takes no longer one. */
const LONGEST_LINE = 65536
const TOO_LONG = `returned more than ${LONGEST_LINE} characters of JSON`
const { parse, stringify } = JSON

/** The last of what a program printed in one call. */
const MOST_PRINTED = 1000
const output = {
  text: '',
  print(text) {
    output.text = (output.text + text.slice(-MOST_PRINTED)).slice(-MOST_PRINTED)
  },
  /** What was printed since it was last taken. */
  take() {
    const printed = output.text
    output.text = ''
    return printed
  },
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
  // Of the engine and Pyodide alone: what a program prints reaches them as text.
  const print = () => {}
  scope.console = { log: print, info: print, warn: print, error: print, debug: print }
  // And a program gets the same hours everywhere.
  for (const part of 'FullYear Month Date Day Hours Minutes Seconds Milliseconds'.split(' '))
    Real.prototype[`get${part}`] = Real.prototype[`getUTC${part}`]
  Real.prototype.getTimezoneOffset = () => 0
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

const messageOf = (error) => {
  try {
    return `${error?.message ?? error}`.slice(0, 2000)
  } catch {
    return 'an error that cannot be read'
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

/** What a program did wrong. */
class ProgramError extends Error {}

/** Of Python's modules beside its own library. */
const NO_MODULES = { offered: { there: [], fetched_later: {} }, packages: {}, imports: [] }
/** Where Pyodide believes its files to be. */
const FOLDER = 'https://pyodide.invalid/'

/** What Pyodide looks for in a worker of a browser, so that it is the same one everywhere: it asks by `self instanceof WorkerGlobalScope`. */
function standAsWorker(scope, fileAt) {
  const WorkerGlobalScope = Object.defineProperty(() => {}, Symbol.hasInstance, {
    value: () => true,
  })
  const fetch = async (address) => {
    const bytes = fileAt(`${address}`)
    return { ok: bytes !== undefined, status: 404, arrayBuffer: async () => bytes }
  }
  const location = { href: FOLDER, toString: () => FOLDER }
  for (const [name, value] of Object.entries({ WorkerGlobalScope, self: scope, fetch, location }))
    Object.defineProperty(scope, name, { value, configurable: true, writable: true })
  WebAssembly.instantiateStreaming = async (response, imports) =>
    WebAssembly.instantiate(await (await response).arrayBuffer(), imports)
}

/**
 * A program in Python, in Pyodide. `files`: its parts by name, as bytes. `load` imports one of them, a module.
 */
async function pythonProgram(scope, { source, name, entry, files, modules = NO_MODULES }, load) {
  limitMemory()
  standAsWorker(scope, (address) => files[address.slice(FOLDER.length)])
  const { loadPyodide } = await load('pyodide.mjs')
  const { default: createPyodideModule } = await load('pyodide.asm.mjs')
  // Pyodide wants to see its own version there, and finds the packages that came with the program.
  const { info } = parse(new TextDecoder().decode(files['pyodide-lock.json']))
  const pyodide = await loadPyodide({
    indexURL: FOLDER,
    packageBaseUrl: FOLDER,
    createPyodideModule,
    lockFileContents: { info, packages: modules.packages },
    env: { PYTHONHASHSEED: '0', HOME: '/home/pyodide' },
    jsglobals: {},
    stdout: (line) => output.print(`${line}\n`),
    stderr: (line) => output.print(`${line}\n`),
    stdin: () => null,
  })
  await pyodide.loadPackage(Object.keys(modules.packages), {
    messageCallback() {},
    errorCallback(problem) {
      throw new Error(problem)
    },
  })
  // It may take seconds, which are no call's.
  for (const own of modules.imports)
    pyodide.runPython(`try:\n    import ${own}\nexcept Exception:\n    pass`)
  const given = { LONGEST_TEXT, MOST_ENTRIES, OFFERED: pyodide.toPy(modules.offered) }
  for (const [key, value] of Object.entries(given)) pyodide.globals.set(key, value)
  pyodide.runPython(PYTHON)
  const [begin, take, call] = ['_begin', '_take', '_call'].map((key) => pyodide.globals.get(key))
  const told = (text) => {
    const { error, value } = parse(text)
    if (error !== undefined) throw new ProgramError(error)
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

/** Engine and program. Everything that the scope brings is taken away first, but for what the language and the engine need. */
async function openProgram(scope, order, load) {
  freezeTime(scope)
  confine(scope, KEPT)
  return order.language === 'python'
    ? pythonProgram(scope, order, load)
    : scriptProgram(order, load)
}

/** A line of the answer to one call. It inherits nothing, so nothing that a program did to the host's objects is in it. */
function lineOf(index, fields) {
  const printed = output.take()
  const line = Object.assign(Object.create(null), { index }, fields, printed && { printed })
  const text = stringify(line)
  return text.length <= LONGEST_LINE ? text : stringify({ index, error: TOO_LONG })
}

/** What became of a call whose program failed. After any other error the engine is asked nothing more: it stopped in the middle. */
const failed = (index, error) =>
  lineOf(index, { error: messageOf(error), is_fatal: !(error instanceof ProgramError) })

/** The answer to one call as a line. */
function answer(program, { index, args }) {
  chance.state = 0
  try {
    return lineOf(index, { value: program.call(args) })
  } catch (error) {
    return failed(index, error)
  }
}

/** Answers calls, given as JSON, one line for each as soon as it is known. The program begins again with every batch of them. */
function* answers(program, text) {
  const calls = parse(text)
  try {
    chance.state = 0
    program.begin(calls)
  } catch (error) {
    for (const { index } of calls) yield failed(index, error)
    return
  }
  for (const call of calls) yield answer(program, call)
}
