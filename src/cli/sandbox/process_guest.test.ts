// Programs on the command line: what they answer, what they cannot reach, and what becomes of one
// that does not end.
import { strToU8, zipSync } from 'fflate'
import { afterEach, describe, expect, test } from 'vitest'
import { type Limits, ProgramSandbox } from '../../host/sandbox/program_sandbox.ts'
import { startProcessGuest } from './process_guest.ts'

const LIMITS: Limits = { timeout_ms: 2000, batch_timeout_ms: 30_000 }
const open: ProgramSandbox[] = []
afterEach(() => {
  for (const sandbox of open.splice(0)) sandbox.end()
})

function sandboxOf(source: string, language: 'javascript' | 'python' = 'javascript') {
  const sandbox = new ProgramSandbox(startProcessGuest, {
    language,
    source,
    name: language === 'python' ? 'reward.py' : 'reward.js',
    entry: 'compute_score',
  })
  open.push(sandbox)
  return sandbox
}
const argsOf = (solution_str: string) => ({
  data_source: 'toy',
  solution_str,
  ground_truth: '12',
  extra_info: { prompt: '5+7=' },
})
const ask = (source: string, texts: readonly string[], language?: 'python', limits = LIMITS) =>
  sandboxOf(source, language).call(texts.map(argsOf), limits)

test('a program in JavaScript answers each call, and remembers nothing of the batch before', async () => {
  const sandbox = sandboxOf(`
let calls = 0
export function compute_score(data_source, solution_str, ground_truth, extra_info) {
  return { score: solution_str === ground_truth ? 1 : 0, calls: ++calls, source: data_source, prompt: extra_info.prompt }
}`)
  for (let round = 0; round < 2; round++) {
    const answers = await sandbox.call(['12', '13'].map(argsOf), LIMITS)
    expect(answers).toEqual([
      { value: { score: 1, calls: 1, source: 'toy', prompt: '5+7=' } },
      { value: { score: 0, calls: 2, source: 'toy', prompt: '5+7=' } },
    ])
  }
})

test('globals and changed built-in objects are gone in the next batch', async () => {
  const sandbox = sandboxOf(`
function compute_score() {
  const seen = [globalThis.kept, [].kept, Math.abs(-2), typeof [].stuck, Object.keys(Array.prototype).length]
  globalThis.kept = 1
  globalThis[Symbol.for('kept')] = 1
  Array.prototype.kept = 1
  Math.abs = () => 7
  JSON = undefined
  Object.defineProperty(Array.prototype, 'stuck', { value: 1 })
  return seen.map(String).join() + String(globalThis[Symbol.for('other')])
}`)
  const first = 'undefined,undefined,2,undefined,0undefined'
  for (let round = 0; round < 3; round++)
    expect(await sandbox.call([argsOf('1')], LIMITS)).toMatchObject([{ value: first }])
})

test('a program that starts again for every call remembers nothing of the call before', async () => {
  const sandbox = sandboxOf(
    'let calls = 0; const compute_score = (_, text) => text === "loop" ? (() => { for (;;); })() : ++calls',
  )
  const limits = { ...LIMITS, timeout_ms: 500, is_fresh: true }
  const answers = await sandbox.call(['1', 'loop', '2', '3'].map(argsOf), limits)
  expect(answers).toMatchObject([{ value: 1 }, { problem: 'timeout' }, { value: 1 }, { value: 1 }])
})

test('of what a program prints the end is kept, call by call', async () => {
  const answers = await ask(
    `function compute_score(_, text) {
      console.log('about', text, { n: 1 })
      if (text === 'much') for (let i = 0; i < 5000; i++) console.log('line ' + i)
      if (text === 'throw') throw new Error('no mood')
      return 1
    }`,
    ['1', 'much', 'throw', '2'],
  )
  expect(answers[0]).toEqual({ value: 1, printed: 'about 1 {"n":1}\n' })
  const { printed = '' } = answers[1]
  expect(printed).toHaveLength(1000)
  expect(printed.endsWith('line 4998\nline 4999\n')).toBe(true)
  expect(answers[2]).toEqual({
    problem: 'error',
    message: 'reward.js, line 4: Error: no mood',
    printed: 'about throw {"n":1}\n',
  })
  expect(answers[3]).toEqual({ value: 1, printed: 'about 2 {"n":1}\n' })
})

test('time and chance are the same in every call', async () => {
  const answers = await ask(
    'const compute_score = () => [Math.random(), Date.now(), new Date().toISOString(), Math.random()].join()',
    ['1', '2'],
  )
  expect(answers[0]).toEqual(answers[1])
  expect(answers[0]).toMatchObject({ value: /2025-01-01T00:00:00.000Z/ })
})

describe('what a program in JavaScript cannot do', () => {
  test.for([
    ['typeof process + typeof require + typeof fetch + typeof Buffer', 'undefined'.repeat(4)],
    ['Object.constructor("return typeof process")()', 'undefined'],
    ['this === undefined', true],
    [
      '(() => { try { throw new Error().constructor.constructor("return process")() } catch (e) { return e.name } })()',
      'ReferenceError',
    ],
    ['NaN', 'NaN'],
    ['import("node:fs")', 'a promise'],
    ['(() => {}).constructor.prototype.constructor === Function', true],
  ] as const)('%s', async ([expression, value]) => {
    expect(await ask(`function compute_score() { return ${expression} }`, ['1'])).toEqual([
      { value },
    ])
  })

  test('an endless loop is ended, and the next response is asked all the same', async () => {
    const source = 'function compute_score(_, text) { while (text === "loop"); return 1 }'
    // On a busy machine an answer that is no loop may take half a second.
    const limits = { ...LIMITS, timeout_ms: 2000 }
    const answers = await ask(source, ['1', 'loop', '2'], undefined, limits)
    expect(answers[0]).toEqual({ value: 1 })
    expect(answers[1]).toEqual({
      problem: 'timeout',
      message: 'took longer than 2000 ms and was ended',
    })
    expect(answers[2]).toEqual({ value: 1 })
  })

  test('endless printing is ended like any endless loop', async () => {
    const source = 'function compute_score() { for (;;) console.log("x".repeat(1e5)) }'
    const limits = { ...LIMITS, timeout_ms: 500 }
    expect(await ask(source, ['1'], undefined, limits)).toEqual([
      { problem: 'timeout', message: 'took longer than 500 ms and was ended' },
    ])
  })

  test('a batch of endless loops ends after the third', async () => {
    const limits = { ...LIMITS, timeout_ms: 200 }
    const answers = await ask(
      'function compute_score() { for (;;); }',
      [...'12345'],
      undefined,
      limits,
    )
    expect(answers.map((answer) => 'problem' in answer && answer.problem)).toEqual(
      new Array(5).fill('timeout'),
    )
    expect(answers[4]).toMatchObject({ message: 'not asked: 3 responses before it were ended' })
  })

  test('memory has an end', async () => {
    const source =
      'function compute_score() { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)) }'
    const limits = { ...LIMITS, timeout_ms: 30_000 }
    expect(await ask(source, ['1'], undefined, limits)).toMatchObject([
      { problem: 'error', message: 'reward.js, line 1: InternalError: out of memory' },
    ])
  })

  test('errors, endless texts and promises become problems or short texts', async () => {
    const source = `function compute_score(_, text) {
      if (text === 'throw') throw { get message() { throw 1 } }
      if (text === 'long') return 'x'.repeat(1e6)
      if (text === 'loop') { const own = {}; own.own = own; return own }
      return { get score() { return 1 }, ["__proto__"]: 5, f() {} }
    }`
    const answers = await ask(source, ['throw', 'long', 'loop', 'object'])
    expect(answers[0]).toEqual({ problem: 'error', message: 'an error that cannot be read' })
    expect((answers[1] as { value: string }).value).toHaveLength(10_000)
    expect(answers[2]).toEqual({ value: { own: { own: { own: '…' } } } })
    expect(answers[3]).toMatchObject({ value: { score: 1, f: 'a function' } })
  })

  test('a text that is no program, or has no such function, is a problem of every response', async () => {
    expect(await ask('function (', ['1'])).toMatchObject([
      { problem: 'error', message: /Function statements|token/ },
    ])
    expect(await ask('const x = 1', ['1', '2'])).toEqual(
      new Array(2).fill({
        problem: 'error',
        message: 'the program declares no function compute_score',
      }),
    )
  })
})

const PYTHON = `
import math, os, random, time
def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    if solution_str == "throw": raise ValueError("no")
    if solution_str == "nan": return math.nan
    if solution_str == "exit": raise SystemExit
    if solution_str == "text": return "text"
    if solution_str == "set": return ",".join({"alpha", "beta", "gamma", "delta"})
    if solution_str == "chance": return [random.random(), time.time(), os.urandom(2).hex()]
    if solution_str == "bomb": return len(b"x" * (2**30))
    if solution_str == "js":
        from pyodide.code import run_js
        return run_js("[typeof process, typeof fetch, typeof require, typeof XMLHttpRequest].join()")
    if solution_str == "file":
        return os.path.exists("/etc/passwd")
    return {"score": float(solution_str == ground_truth), "prompt": extra_info["prompt"], "acc": True}
`

test('a program in Python answers as verl calls it, repeats, and reaches nothing', async () => {
  const texts = [
    '12',
    'throw',
    'nan',
    'exit',
    'text',
    'bomb',
    'js',
    'file',
    'set',
    'chance',
    'chance',
  ]
  const sandbox = sandboxOf(PYTHON, 'python')
  const limits = { ...LIMITS, timeout_ms: 20_000 }
  const answers = await sandbox.call(texts.map(argsOf), limits)
  expect(answers.slice(0, 8)).toEqual([
    { value: { score: 1, prompt: '5+7=', acc: true } },
    { problem: 'error', message: 'reward.py, line 4: ValueError: no' },
    { value: 'NaN' },
    { problem: 'error', message: 'reward.py, line 6: SystemExit: ' },
    { value: 'text' },
    { problem: 'error', message: 'out of memory' },
    {
      problem: 'error',
      message: expect.stringMatching(/line 13: ImportError: cannot import name 'eval'/),
    },
    { value: false },
  ])
  expect(answers[9]).toEqual(answers[10])
  // Another process, the same order of a set.
  const again = await sandboxOf(PYTHON, 'python').call(texts.slice(8).map(argsOf), limits)
  expect(again).toEqual(answers.slice(8))
}, 240_000)

/** A wheel of one module, as Pyodide's packages are. */
const wheelOf = (name: string, text: string) =>
  zipSync({
    [`${name}.py`]: strToU8(text),
    [`${name}-1.0.dist-info/METADATA`]: strToU8(
      `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    ),
    [`${name}-1.0.dist-info/WHEEL`]: strToU8(
      'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ),
    [`${name}-1.0.dist-info/RECORD`]: strToU8(''),
  })

// Each Python takes seconds to start.
test.skipIf(!process.env.LONG_TESTS)(
  'a module that the host offers is loaded before the program begins, and the same every time',
  async () => {
    const file_name = 'dice-1.0-py3-none-any.whl'
    const dice = {
      name: 'dice',
      version: '1.0',
      file_name,
      sha256: '0'.repeat(64),
      install_dir: 'site',
      imports: ['dice'],
      depends: [],
      package_type: 'package',
      unvendored_tests: false,
    }
    const order = {
      ...({ language: 'python', name: 'reward.py', entry: '' } as const),
      source: `import dice, os
def compute_score(solution_str, ground_truth): return [dice.throw(), {"score": 1}][0] + os.urandom(1)[0]`,
      files: {
        [file_name]: wheelOf('dice', 'import random\ndef throw(): return random.random()\n'),
      },
      modules: {
        offered: { there: ['dice'], fetched_later: {} },
        packages: { dice },
        imports: ['dice'],
      },
    }
    const asked = async () => {
      const sandbox = new ProgramSandbox(startProcessGuest, order)
      open.push(sandbox)
      return sandbox.call(['1', '2'].map(argsOf), { ...LIMITS, timeout_ms: 20_000 })
    }
    const answers = await asked()
    expect(answers[0]).toEqual({ value: expect.any(Number) })
    expect(answers[1]).toEqual(answers[0])
    expect(await asked()).toEqual(answers)
  },
  240_000,
)
