// Tools that a person wrote: what their file says, how calls reach the program, and what becomes of
// values that are no answers.
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import {
  type CallArguments,
  installProgramRunner,
  loadProgram,
  type ProgramAnswer,
} from '../task/program.ts'
import { arithmetic } from '../tokenizers/arithmetic.ts'
import { createTools } from './index.ts'
import { markProblem } from './marked_turns.ts'
import { callTool, TURN_DEFAULTS } from './tool.ts'
import { isToolProgram, readToolProgram } from './tool_program.ts'

const SCHEMA = `{
  "type": "function",
  "function": {
    "name": "dice",
    "description": "Throws a die } with \\"sides\\".",
    "parameters": {
      "type": "object",
      "properties": {"sides": {"type": "string", "description": "How many"}},
      "required": ["sides"]
    }
  }
}`
const PYTHON = `import math\ntool_schema = ${SCHEMA}\ntool_marks = ["<", "|"]\n\ndef execute(parameters):\n    return "4"\n`
const JAVASCRIPT = `export const tool_schema = ${SCHEMA}\nexport function execute() { return '4' }`

test('schema and marks are read from either language without running it', () => {
  const { schema, marks } = readToolProgram(PYTHON, 'dice.py')
  expect(schema).toEqual(JSON.parse(SCHEMA))
  expect(marks).toEqual({ open: '<', close: '|', argument: 'sides' })
  expect(readToolProgram(JAVASCRIPT, 'dice.js')).toEqual({
    schema,
    marks: { open: '(', close: ')', argument: 'sides' },
  })
  expect(isToolProgram(JAVASCRIPT)).toBe(true)
  expect(isToolProgram('def compute_score(): return tool_schema')).toBe(false)
})

test.for([
  ['', 'tool.py: expected a tool that says tool_schema = {…}'],
  ["tool_schema = {'type': 'function'}", 'tool_schema: expected plain JSON'],
  ['tool_schema = {"type": "function"', 'tool_schema: expected plain JSON'],
  ['tool_schema = []', 'tool_schema: expected {"type": "function", "function": {…}}'],
  [PYTHON.replace('"dice"', '"di ce"'), 'function.name'],
  [PYTHON.replace('"description": "Throws', '"descr": "Throws'), 'function.description'],
  [PYTHON.replace('"string"', '"file"'), 'properties.sides: expected a type'],
  [PYTHON.replace('["sides"]', '["side"]'), 'function.parameters.required'],
  [PYTHON.replace('"|"', '"<"'), 'tool_marks: expected two different characters other than >'],
  [PYTHON.replace('"|"', '">"'), 'tool_marks: expected two different characters'],
] as const)('%s is refused', ([source, why]) => {
  expect(() => readToolProgram(source, 'tool.py')).toThrow(why)
})

test('whatever a file holds, it is a tool or is refused by a sentence', () => {
  const piece = fc.constantFrom(
    'tool_schema = ',
    '{',
    '}',
    '"type"',
    ':',
    '"function"',
    '\n',
    '[',
    ']',
    ',',
    '"\\',
    '__proto__',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
      try {
        expect(readToolProgram(pieces.join(''), 'x.py').schema.type).toBe('function')
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
  )
})

const LIMITS = { timeout_ms: 10, batch_timeout_ms: 20 }
const CHOICE = { id: 'program', code: 'sha256-dice', name: 'dice.py' }
const CALLS = { ...TURN_DEFAULTS, max_assistant_turns: 2, max_user_turns: undefined }
const call = (sides: string) => ({ name: 'dice', arguments: { sides } })
let asked: { readonly entry: string; readonly calls: readonly CallArguments[] }[] = []
const answering = (answer: (sides: unknown) => ProgramAnswer) =>
  installProgramRunner(async ({ is_fresh, timeout_ms }, entry, calls) => {
    expect([is_fresh, timeout_ms]).toEqual([true, 10])
    asked.push({ entry, calls })
    return calls.map(({ parameters }) => answer((parameters as { sides: string }).sides))
  })

beforeEach(() => {
  asked = []
  loadProgram('sha256-dice', PYTHON)
})

test('calls that are made at once are one batch', async () => {
  const tools = createTools([CHOICE], LIMITS)
  answering((sides) => ({ value: `a ${sides}` }))
  const said = await Promise.all(['4', '6'].map((sides) => callTool(tools, call(sides), CALLS)))
  expect(said).toEqual([
    { text: 'a 4', reward: 0 },
    { text: 'a 6', reward: 0 },
  ])
  await callTool(tools, call('8'), CALLS)
  expect(asked.map(({ entry, calls }) => [entry, calls.length])).toEqual([
    ['execute', 2],
    ['execute', 1],
  ])
})

test('an answer may bring a reward; one that is no text is an error that the model reads', async () => {
  const tools = createTools([CHOICE], LIMITS)
  const values: readonly unknown[] = [['x', 0.5], { text: 'y', reward: 2 }, 4, null, ['x', 'NaN']]
  answering((sides) => ({ value: values[Number(sides)] }))
  const said = await Promise.all(values.map((_, i) => callTool(tools, call(`${i}`), CALLS)))
  expect(said.slice(0, 2)).toEqual([
    { text: 'x', reward: 0.5 },
    { text: 'y', reward: 2 },
  ])
  expect(said[2]).toMatchObject({
    text: "Error executing tool 'dice': expected a text, or a text and a reward, got 4",
    problem: { kind: 'error' },
  })
  expect(said.slice(3).every(({ problem }) => problem)).toBe(true)
})

test('one that is ended says so, and a megabyte is cut', async () => {
  const tools = createTools([CHOICE], LIMITS)
  answering((sides) =>
    sides === '1'
      ? { problem: 'timeout', message: 'took longer than 10 ms and was ended' }
      : { value: 'x'.repeat(1_000_000) },
  )
  const [ended, long] = await Promise.all(['1', '2'].map((s) => callTool(tools, call(s), CALLS)))
  expect(ended).toMatchObject({
    text: "Error executing tool 'dice': took longer than 10 ms and was ended",
    problem: { kind: 'timeout' },
  })
  expect(long.text).toContain('...(truncated)...')
  expect(long.text.length).toBeLessThan(300)
})

test('before its file is here a tool has a name, and its calls fail', async () => {
  const tools = createTools([{ ...CHOICE, code: 'sha256-other', name: 'my die.py' }], LIMITS)
  expect(tools[0].schema.function.name).toBe('my_die')
  const { text } = await callTool(tools, { name: 'my_die', arguments: {} }, CALLS)
  expect(text).toContain('is not here; give its file again')
})

test('two tools of one name are refused', () => {
  loadProgram('sha256-twin', JAVASCRIPT)
  const twin = { id: 'program', code: 'sha256-twin', name: 'dice.js' }
  expect(() => createTools([CHOICE, twin], LIMITS)).toThrow('each name once, got dice twice')
})

test('two tools that are called alike are refused, in a vocabulary of characters', () => {
  const other = PYTHON.replace('"dice"', '"coin"').replace('"<", "|"', '"[", "]"')
  loadProgram('sha256-coin', other)
  const coin = { id: 'program', code: 'sha256-coin', name: 'coin.py' }
  const [calculator] = createTools([{ id: 'calculator' }], LIMITS)
  const tools = [calculator, ...createTools([coin], LIMITS)]
  expect(markProblem(arithmetic, tools)).toContain('two are called between [ ]')
  expect(markProblem(arithmetic, tools.slice(1))).toBeUndefined()
})
