// biome-ignore-all lint/correctness/noUnusedVariables lint/correctness/noUndeclaredVariables: guest_code.ts joins these texts into one.
// The guest in a process of Node: the first line of its input brings the program, every later one calls. The files of its engine come one
// behind the other through a pipe of their own, so it needs no file of the disk. Node's own globals are gone before the engine is there, and
// the engine's modules have no import().
const vm = require('node:vm')
const readline = require('node:readline')
const { readFileSync } = require('node:fs')

/** The pipe of the files. */
const FILES = 3

/** Files by name: [name, bytes] says how long each is. */
function readFiles(lengths) {
  const all = readFileSync(FILES)
  let from = 0
  return Object.fromEntries(
    lengths.map(([name, length]) => {
      from += length
      return [name, new Uint8Array(all.subarray(from - length, from))]
    }),
  )
}

/** Imports one of the files, a module. Without a callback for it, import() is refused in such a module. */
async function loadModule(files, name) {
  const module = new vm.SourceTextModule(new TextDecoder().decode(files[name]), {
    identifier: name,
    initializeImportMeta(meta) {
      meta.url = `https://sandbox.invalid/${name}`
    },
  })
  await module.link(() => {
    throw new Error(`${name} imports another module`)
  })
  await module.evaluate()
  return module.namespace
}

/** What Node itself calls on its process while it runs. */
const CALLED = new Set(['nextTick', 'emitWarning', 'reallyExit'])

/** Whatever a program gets hold of, it signals no process, and loads nothing of Node. */
function closeProcess() {
  for (const name of Object.getOwnPropertyNames(process))
    if (typeof process[name] === 'function' && !CALLED.has(name))
      Object.defineProperty(process, name, { value: undefined })
}

const { stdin, stdout } = process
const post = (line) => void stdout.write(`${line}\n`)
let program
async function open({ lengths, ...order }) {
  const files = readFiles(lengths)
  closeProcess()
  program = await openProgram(globalThis, { ...order, files }, (name) => loadModule(files, name))
  post(stringify({ ready: true }))
}
readline.createInterface({ input: stdin }).on('line', (line) => {
  if (program) for (const said of answers(program, line)) post(said)
  else
    open(parse(line)).catch((error) => post(stringify({ ready: false, error: messageOf(error) })))
})
