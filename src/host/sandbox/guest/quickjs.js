// biome-ignore-all lint/correctness/noUnusedVariables lint/correctness/noUndeclaredVariables: guest_code.ts joins these texts into one.
// A program in JavaScript runs in QuickJS, an engine compiled to WebAssembly. The engine is given a memory and no function of its host, so
// the program meets no object, function or error of another realm, and its memory has an end that WebAssembly itself keeps. Only texts go in
// and come out.

/** Bytes, in pages of WebAssembly. The engine's own limit counts no allocations in this build, so the memory itself is bounded. */
const SCRIPT_MEMORY = 2 ** 28
/** Of the engine's stack: small enough that it ends before the stack of any host that runs the engine. */
const SCRIPT_STACK = 2 ** 17

/** Texts and values across the border of the engine, through its functions in C. */
async function startEngine(files, load) {
  const { default: create } = await load('quickjs.mjs')
  const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: SCRIPT_MEMORY / 65536 })
  const engine = await create({
    wasmBinary: files['quickjs.wasm'],
    wasmMemory,
    locateFile: () => '',
    print() {},
    printErr() {},
  })
  const put = (text) => {
    const length = engine.lengthBytesUTF8(text)
    const at = engine._malloc(length + 1)
    if (at === 0) throw new Error('out of memory')
    engine.stringToUTF8(text, at, length + 1)
    return { at, length }
  }
  return { engine, put, memory: () => new Uint32Array(wasmMemory.buffer) }
}

/** A realm of the engine, with a heap of its own. */
function openRealm({ engine, put, memory }) {
  const runtime = engine._QTS_NewRuntime()
  engine._QTS_RuntimeSetMaxStackSize(runtime, SCRIPT_STACK)
  const context = engine._QTS_NewContext(runtime, 0)
  const free = (value) => engine._QTS_FreeValuePointer(context, value)
  const textOf = (value) => {
    const at = engine._QTS_GetString(context, value)
    if (at === 0) throw new Error('out of memory')
    const text = engine.UTF8ToString(at)
    engine._QTS_FreeCString(context, at)
    return text
  }
  return {
    free,
    /** A value of a text; texts of JSON alone, because a NUL would end it. */
    valueOf(text) {
      const { at } = put(text)
      const value = engine._QTS_NewString(context, at)
      engine._free(at)
      return value
    },
    /** What a text comes to, as { value } or { thrown }. */
    evaluate(text, name) {
      const source = put(text)
      const file = put(name)
      const value = engine._QTS_Eval(context, source.at, source.length, file.at, 0, 0)
      engine._free(source.at)
      engine._free(file.at)
      const thrown = engine._QTS_ResolveException(context, value)
      return thrown === 0 ? { value } : { thrown }
    },
    /** What a function returns to `given`, as a text. The values that it was given are used up. */
    call(run, ...given) {
      const list = engine._malloc(4 * given.length)
      if (list === 0) throw new Error('out of memory')
      memory().set(given, list / 4)
      const nothing = engine._QTS_GetUndefined()
      const value = engine._QTS_Call(context, run, nothing, given.length, list)
      engine._free(list)
      given.forEach(free)
      // Our own function catches what a program throws, so this is an engine without memory.
      if (engine._QTS_ResolveException(context, value) !== 0) throw new Error('out of memory')
      const text = textOf(value)
      free(value)
      return text
    },
    close() {
      try {
        engine._QTS_FreeContext(context)
        engine._QTS_FreeRuntime(runtime)
      } catch {
        // The engine checks that nothing is left, and stops where something is: then that memory is lost until the guest ends.
      }
    },
  }
}

/** Lets `export` stand before what a program declares, without moving a line. */
const withoutExports = (source) =>
  source
    .replace(/^export\s+(?:default\s+)?(?=(?:async\s+)?function\b|const\b|let\b|class\b)/gm, '')
    .replace(/^export\s*\{[^}]*\}/gm, (found) => found.replace(/[^\n]/g, ' '))

const INSIDE = `(() => {
const LONGEST_TEXT = ${LONGEST_TEXT}, MOST_ENTRIES = ${MOST_ENTRIES}, MOST_PRINTED = ${MOST_PRINTED}
${INSIDE_TEXT}
return ask
})()`

/** A program in JavaScript: a text that declares the function `entry`. Every batch has a realm of its own. */
async function scriptProgram({ source, name, entry, files }, load) {
  const host = await startEngine(files, load)
  const text = `"use strict";${withoutExports(source)}`
  let realm
  let serve
  const ask = (task, value) => {
    const told = parse(realm.call(serve, realm.valueOf(task), value))
    if (typeof told.printed === 'string') output.print(told.printed)
    if (told.error !== undefined) throw new ProgramError(told.error)
    return told.value
  }
  return {
    begin() {
      realm?.free(serve)
      realm?.close()
      realm = openRealm(host)
      serve = realm.evaluate(INSIDE, 'sandbox').value
      ask('file', realm.valueOf(name))
      const begun = realm.evaluate(text, name)
      if (begun.thrown) return ask('failed', begun.thrown)
      realm.free(begun.value)
      const found = realm.evaluate(`typeof ${entry} === 'function' ? ${entry} : undefined`, name)
      if (found.thrown) return ask('failed', found.thrown)
      if (!ask('entry', found.value))
        throw new ProgramError(`the program declares no function ${entry}`)
    },
    call: (args) => ask('call', realm.valueOf(stringify(args))),
  }
}
