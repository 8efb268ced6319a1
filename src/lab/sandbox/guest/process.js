// biome-ignore-all lint/correctness/noUnusedVariables lint/correctness/noUndeclaredVariables: guest_code.ts joins these texts into one.
// The guest in a process of Node: the first line of its input brings the program, every later one calls. A program in JavaScript runs in a
// context that holds nothing of Node; one in Python runs beside Node, of which everything is taken away first.
const vm = require('node:vm')
const readline = require('node:readline')
const { readFileSync } = require('node:fs')

/** Modules that reach the network lose the functions that do: the permissions of a process say nothing of it before Node 25. */
function closeNetwork() {
  const refuse = () => {
    throw new Error('a program has no network')
  }
  const closed = {
    net: ['connect', 'createConnection', 'createServer', 'Socket.connect', 'Server.listen'],
    dgram: ['createSocket', 'Socket.bind', 'Socket.send', 'Socket.connect'],
    dns: ['lookup', 'resolve', 'Resolver.resolve', 'lookupService', 'reverse'],
    http: ['request', 'get', 'createServer'],
    https: ['request', 'get', 'createServer'],
    http2: ['connect', 'createServer', 'createSecureServer'],
    tls: ['connect', 'createServer'],
    inspector: ['open'],
  }
  for (const [name, paths] of Object.entries(closed)) {
    const loaded = require(`node:${name}`)
    for (const path of paths) {
      const [first, method] = path.split('.')
      const owner = method ? loaded[first]?.prototype : loaded
      if (owner?.[method ?? first]) owner[method ?? first] = refuse
    }
  }
}

/** The same guest in a context of its own: only texts go in and come out. */
function inContext({ source, entry }) {
  const context = vm.createContext(Object.create(null))
  const run = (code) => vm.runInContext(code, context)
  const said = run(
    `(() => {${GUEST}
freezeTime(globalThis)
confine(globalThis, KEPT)
const program = javascriptProgram(${JSON.stringify(source)}, ${JSON.stringify(entry)})
let lines
return {
  take(text) { lines = answers(program, text) },
  next() { return lines.next().value ?? '' },
}})()`,
  )
  return (text, post) => {
    said.take(text)
    for (let line = said.next(); typeof line === 'string' && line !== ''; line = said.next())
      post(line)
  }
}

/** Python beside Node: what Node brings is hidden before Pyodide looks for it, so that it is the one of a browser. */
async function besideNode(order) {
  const files = Object.fromEntries(
    ['pyodide.asm.wasm', 'python_stdlib.zip', 'pyodide-lock.json'].map((name) => [
      name,
      readFileSync(`${order.folder}/${name}`),
    ]),
  )
  const scope = globalThis
  for (const name of ['process', 'Buffer', 'require', 'module', 'global'])
    Object.defineProperty(scope, name, { value: undefined, configurable: true, writable: true })
  // Pyodide asks whether it is in a worker by `self instanceof WorkerGlobalScope`.
  const WorkerGlobalScope = Object.defineProperty(() => {}, Symbol.hasInstance, {
    value: () => true,
  })
  Object.assign(scope, {
    WorkerGlobalScope,
    self: scope,
    location: new URL('https://pyodide.invalid/'),
  })
  const program = await pythonProgram(
    scope,
    { ...order, files },
    (name) => import(`file://${order.folder}/${name}`),
  )
  freezeTime(scope)
  confine(scope, new Set([...KEPT, ...KEPT_FOR_PYTHON]))
  return program
}

const { stdin, stdout } = process
const post = (line) => void stdout.write(`${line}\n`)
let ask
async function open(order) {
  closeNetwork()
  if (order.language === 'javascript') {
    const own = inContext(order)
    ask = (text) => own(text, post)
  } else {
    const program = await besideNode(order)
    ask = (text) => {
      for (const line of answers(program, text)) post(line)
    }
  }
  post(stringify({ ready: true }))
}
readline.createInterface({ input: stdin }).on('line', (line) => {
  if (ask) return ask(line)
  open(parse(line)).catch((error) => post(stringify({ ready: false, error: messageOf(error) })))
})
