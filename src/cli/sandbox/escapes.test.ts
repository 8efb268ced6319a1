// Programs that try to get out of their sandbox on the command line, and what they get. Where a
// system cannot confine Python, its programs are not run, and the tests hold the refusal.
import { afterEach, describe, expect, test } from 'vitest'
import { ProgramSandbox } from '../../host/sandbox/program_sandbox.ts'
import type { ProgramAnswer } from '../../tasks/task/program.ts'
import type { Confinement } from './confine.ts'
import { startProcessGuest } from './process_guest.ts'
import { refuseUnconfined, trustPrograms } from './programs.ts'

const LIMITS = { timeout_ms: 20_000, batch_timeout_ms: 120_000 }
const NOTHING: Confinement = { prefix: [], missing: 'this system has no namespaces' }
const open: ProgramSandbox[] = []
afterEach(() => {
  for (const sandbox of open.splice(0)) sandbox.end()
})

/** Answers of a program to texts, in a system that confines as this one does, or as `confined`
 * says. */
function answers(
  name: string,
  source: string,
  texts: readonly string[],
  confined?: Confinement,
  is_fresh = false,
) {
  const language = name.endsWith('.py') ? 'python' : 'javascript'
  const order = { language, source, name, entry: 'compute_score' } as const
  const sandbox = new ProgramSandbox(
    (order, hearer) => startProcessGuest(order, hearer, confined),
    order,
  )
  open.push(sandbox)
  const calls = texts.map((solution_str) => ({ data_source: 'toy', solution_str }))
  return sandbox.call(calls, { ...LIMITS, is_fresh })
}

const saidBy = (answer: ProgramAnswer) => ('value' in answer ? answer.value : answer.message)

describe('a program in JavaScript', () => {
  /** What each expression comes to. QuickJS is all there is: every function and every error is its
   * own. */
  const PROBES: Readonly<Record<string, unknown>> = {
    // The error that the engine throws at the end of its stack.
    [`(() => { let e; const f = () => { try { f() } catch (own) { e ??= own } }; f();
      return e.constructor.constructor('return typeof process + typeof require')() })()`]:
      'undefinedundefined',
    [`(() => { Error.prepareStackTrace = (_, calls) => calls; const { stack } = new Error('x');
      return typeof stack === 'string' || stack === undefined || stack.every((call) => typeof call.getThis?.()?.process === 'undefined') })()`]: true,
    '(() => {}).constructor("return this")() === globalThis': true,
    '(async () => {}).constructor("return typeof process")() instanceof Promise': true,
    '(function* () {}).constructor("yield typeof process")().next().value': 'undefined',
    'eval("typeof process + typeof WebAssembly + typeof std + typeof os")':
      'undefinedundefinedundefinedundefined',
    'Object.getOwnPropertyNames(globalThis).filter((name) => /^(fetch|XMLHttpRequest|WebSocket|Worker|process|require|module|print|scriptArgs|load\\w*)$/.test(name)).join()':
      '',
    'import("node:fs")': 'a promise',
    '(() => { Object.prototype.toJSON = () => ({ error: { toString: 5 } }); return 1 })()': 1,
    '(() => { Object.prototype.error = { toString: 5 }; Object.prototype.index = 7; return 1 })()': 1,
    '(() => { Array.prototype.toJSON = () => 5; String.prototype.slice = () => { throw 1 }; return ["a"] })()':
      ['a'],
    '(() => { JSON.stringify = () => "{"; JSON.parse = () => ({}); Object.keys = () => ["x"]; return 1 })()': 1,
    '(() => { Reflect.apply = () => { throw 1 }; Object.values = () => []; return 1 })()': 1,
    'new Proxy({ score: 1 }, { ownKeys: () => ["score", "index"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: () => 3 })':
      { score: 3, index: 3 },
    'JSON.parse("[".repeat(20) + "]".repeat(20))': [[['…']]],
  }

  test('gets nothing of its host', async () => {
    const source = 'function compute_score(_, text) { return (0, eval)(text) }'
    const probes = Object.keys(PROBES)
    const all = await answers('reward.js', source, probes, undefined, true)
    expect(all.map((answer, i) => [probes[i], saidBy(answer)])).toEqual(Object.entries(PROBES))
  })

  test.for([
    ['[0, 1, 2].map(() => new Float64Array(64e6).fill(1)).length', /out of memory/],
    ['new SharedArrayBuffer(15e8).byteLength', /out of memory|not defined|SharedArrayBuffer/],
    ['eval("(".repeat(1e6))', /stack/],
    [
      '(() => { let deep = {}; for (let i = 0; i < 1e5; i++) deep = { deep }; return JSON.stringify(deep) })()',
      /stack|memory/,
    ],
    ['(() => { const f = () => f(); return f() })()', /stack/],
  ] as const)('%s is an error of its call alone', async ([probe, said]) => {
    const source = 'function compute_score(_, text) { return (0, eval)(text) }'
    const [before, failed, after] = await answers('reward.js', source, ['1', probe, '2'])
    expect([before, after]).toEqual([{ value: 1 }, { value: 2 }])
    expect(failed).toMatchObject({ problem: 'error', message: said })
  })

  test('runs where a system confines nothing', async () => {
    const source = 'const compute_score = () => typeof process'
    expect(await answers('reward.js', source, ['1'], NOTHING)).toEqual([{ value: 'undefined' }])
    expect(() => refuseUnconfined('reward.js', NOTHING)).not.toThrow()
  })
})

/** Runs a response as a text of Python and returns what it leaves in `said`. */
const RUNS_TEXTS = `
def compute_score(data_source, solution_str, **others):
    space = {"said": None}
    try:
        exec(solution_str, space)
    except BaseException as error:
        return type(error).__name__ + ": " + str(error)
    return space["said"] if isinstance(space["said"], (int, bool)) else str(space["said"])
`

/** Ways out of Pyodide, and what each comes to. */
const WAYS_OUT: readonly (readonly [string, unknown])[] = [
  [
    'import pyodide_js; said = pyodide_js.runPython.constructor("return typeof process")()',
    /EvalError: Code generation/,
  ],
  [
    'import pyodide_js; said = pyodide_js._module.HEAPU8.constructor.constructor("return import(\\"node:fs\\")")()',
    /EvalError: Code generation/,
  ],
  ['from pyodide.code import run_js; said = run_js("1 + 1")', /ImportError|EvalError/],
  [
    'import js; said = [name for name in ("process", "require", "fetch", "Function", "eval", "XMLHttpRequest") if hasattr(js, name)]',
    '[]',
  ],
  ['import pyodide_js; said = pyodide_js.mountNodeFS("/host", "/")', /only works in Node/],
  ['import os; os.kill(os.getppid(), 9)', /PermissionError/],
  ['import os; said = sorted(os.listdir("/"))', "['dev', 'home', 'lib', 'proc', 'tmp']"],
  ['said = open("/etc/passwd").read()', /FileNotFoundError/],
  [
    'import socket; said = socket.create_connection(("127.0.0.1", 80), 3)',
    /OSError: .*unreachable/,
  ],
  ['import urllib.request; said = urllib.request.urlopen("http://127.0.0.1")', /URLError/],
  ['import subprocess; said = subprocess.run(["ls"])', /does not support processes/],
  ['import os; said = os.fork()', /AttributeError|OSError/],
  ['import os; said = os.environ.get("PATH") + str("LAB_COLUMNS" in os.environ)', '/False'],
  ['kept = [bytearray(10**8) for _ in range(15)]', /MemoryError/],
  [
    'import ctypes; said = ctypes.CDLL(None).emscripten_run_script_int(b"1 + 1")',
    /Code generation/,
  ],
  [
    'import pyodide_js; a = pyodide_js._module.HEAPU8.constructor; kept = [a.new(500_000_000).fill(1) for _ in range(3)]',
    /more than 768 MB|allocation failed/,
  ],
]

/** Where a system confines nothing, these are Node's own limits and the engine's, around a program
 * that a person trusts. */
async function triesWaysOut() {
  const texts = WAYS_OUT.map(([text]) => text)
  const all = await answers('reward.py', RUNS_TEXTS, texts)
  WAYS_OUT.forEach(([text, expected], i) => {
    const said = saidBy(all[i])
    if (expected instanceof RegExp) expect(`${text} → ${said}`).toMatch(expected)
    else expect([text, said]).toEqual([text, expected])
  })
}

describe('a program in Python', () => {
  // process_guest.test.ts tries the commonest ways in every run; all of them take a quarter of a
  // minute.
  test.skipIf(!process.env.LONG_TESTS)(
    'gets no function of its host, no file, no network, no process and little memory',
    async () => {
      await triesWaysOut()
    },
    240_000,
  )

  test('is refused before it runs where the system cannot confine it, unless it is trusted', () => {
    expect(() => refuseUnconfined('reward.py', NOTHING)).toThrow(
      /^reward\.py: Python cannot be confined on this machine: this system has no namespaces\..*--trust-programs/,
    )
    trustPrograms(true)
    expect(() => refuseUnconfined('reward.py', NOTHING)).not.toThrow()
    trustPrograms(false)
  })
})
