// Tests who speaks when, and what is masked: hand-written conversations in a vocabulary of
// characters.
import { expect, test } from 'vitest'
import { arithmetic } from '../tokenizers/arithmetic.ts'
import { calculator } from './calculator.ts'
import { type Chat, chatTurns, parseHermes } from './chat_turns.ts'
import { Conversation } from './conversation.ts'
import { createTools } from './index.ts'
import { lookup } from './lookup.ts'
import { markedTurns, observedCharacters, withoutCalls } from './marked_turns.ts'
import { callTool, type Tool, TURN_DEFAULTS, truncated } from './tool.ts'
import type { Message } from './turn_format.ts'

const TIMES = { timeout_ms: 1000, batch_timeout_ms: 1000 }
const tools = createTools([{ id: 'calculator' }, { id: 'lookup' }], TIMES)
const LIMITS = { ...TURN_DEFAULTS, max_assistant_turns: 3, max_user_turns: undefined }
const NO_LIMITS = { ...LIMITS, max_assistant_turns: undefined }
const ids = (text: string) => arithmetic.encode(text)
const text = (numbers: readonly number[]) => arithmetic.decode(numbers)

const started = (response_length = 40, limits: typeof LIMITS | typeof NO_LIMITS = LIMITS) =>
  new Conversation({ format: markedTurns(arithmetic, tools), tools, limits, response_length }, [])

test('the answer follows the call, masked, and a turn without a call is the last', async () => {
  const held = started()
  expect(text((await held.say(ids('[12+34]'))) ?? [])).toBe('46>')
  expect(await held.say([...ids('46'), arithmetic.eos_token_id])).toBeUndefined()
  expect(text(held.response_ids)).toBe('[12+34]46>46')
  expect(held.response_mask.join('')).toBe('1111111000111')
  expect(held.num_turns).toBe(4)
  expect(held.tool_calls).toEqual([{ name: 'calculator', arguments: { expression: '12+34' } }])
})

test('what is between other marks goes to the tool of these marks', async () => {
  expect(text((await started().say(ids('{42}'))) ?? [])).toBe('65>')
})

test('the last turn that is allowed runs no tool', async () => {
  const held = started()
  for (let turn = 0; turn < 2; turn++) expect(await held.say(ids('[1+1]'))).toBeDefined()
  expect(await held.say(ids('[1+1]'))).toBeUndefined()
  expect(held.tool_calls).toHaveLength(2)
  expect(held.num_turns).toBe(6)
})

test('an answer that leaves the policy no room is dropped, its call is not', async () => {
  const held = started(7, NO_LIMITS)
  expect(await held.say(ids('[1+1]'))).toBeUndefined()
  expect(held.response_mask).toEqual([1, 1, 1, 1, 1])
  expect(held.tool_rewards).toEqual([0])
  expect(held.num_turns).toBe(2)
  const roomier = started(8, NO_LIMITS)
  expect(await roomier.say(ids('[1+1]'))).toHaveLength(2)
  expect(await roomier.say(ids('99'))).toBeUndefined()
  expect(text(roomier.response_ids)).toBe('[1+1]2>9')
})

test('what a vocabulary cannot write is left out of an answer', async () => {
  expect(text((await started().say(ids('[1/0]'))) ?? [])).toBe('>')
})

test('tools that are unknown, throw or say too much answer as in verl', async () => {
  const ask = (name: string, args: unknown, limits = LIMITS) =>
    callTool([calculator, lookup, long], { name, arguments: args }, limits)
  const long: Tool = {
    ...lookup,
    schema: { ...lookup.schema, function: { ...lookup.schema.function, name: 'long' } },
    call: () => ({ text: '0123456789'.repeat(100_000), reward: 0.5 }),
  }
  const unknown = "Unknown function 'x'. Available tools: ['calculator', 'lookup', 'long']"
  expect((await ask('x', {})).text).toBe(unknown)
  const error = "Error executing tool 'calculator': division by zero"
  expect(await ask('calculator', { expression: '1/0' })).toEqual({ text: error, reward: 0 })
  expect((await ask('calculator', 3)).text).toContain('must be a mapping, not int')
  const short = { ...LIMITS, max_tool_response_length: 5 }
  expect(await ask('long', {}, short)).toEqual({ text: '01...(truncated)...89', reward: 0.5 })
})

test('texts are cut by characters, not by halves of them', () => {
  const cut = (side: 'left' | 'middle' | 'right', limit: number) =>
    truncated('🙂b🙂d🙂', { max_tool_response_length: limit, tool_response_truncate_side: side })
  expect(cut('left', 2)).toBe('(truncated)...d🙂')
  expect(cut('right', 3)).toBe('🙂b🙂...(truncated)')
  expect(cut('middle', 3)).toBe('🙂...(truncated)...🙂')
  expect(cut('middle', 5)).toBe('🙂b🙂d🙂')
  expect(cut('left', 0)).toBe('(truncated)...🙂b🙂d🙂')
})

test('the calculator works out whole numbers, and says what it cannot', () => {
  const answer = (expression: unknown) => calculator.call({ expression })
  expect(answer('12 * (3+4)')).toEqual({ text: '84' })
  expect(answer('7/2')).toEqual({ text: '3.5' })
  for (const wrong of ['', '1+', 'alert(1)', '1/0', '9'.repeat(300), '9'.repeat(20), 5])
    expect(() => answer(wrong)).toThrow()
})

test('calls and answers leave a text, and only answers are observed', () => {
  expect(withoutCalls('[12+34]46>46', tools)).toBe('46')
  expect(withoutCalls('1[2]2>3{4}', tools)).toBe('13')
  expect(observedCharacters('[12+34]46>46', tools).join('')).toBe('000000011100')
  expect(observedCharacters('46', tools)).toEqual([0, 0])
})

test('the tools of an experiment are known and named once', () => {
  expect(() => createTools([{ id: 'search' }], TIMES)).toThrow(
    'one of calculator, lookup, program, got search',
  )
  expect(() => createTools([{ id: 'lookup' }, { id: 'lookup' }], TIMES)).toThrow('lookup twice')
  expect(() => markedTurns({ ...arithmetic, tokens: ['1'] }, tools)).toThrow('has no [')
})

/** Renders `role:content.` and the schema count: enough of a template to see what is appended. */
const chat: Chat = {
  render: (messages, schemas, addGenerationPrompt) =>
    Array.from(
      messages.map(({ role, content }) => `${role[0]}${schemas.length}${content}.`).join('') +
        (addGenerationPrompt ? 'A' : ''),
      (character) => character.charCodeAt(0),
    ),
  decode: (codes) => String.fromCharCode(...codes),
  text: (codes) => String.fromCharCode(...codes),
  boundary: { after: 46, insert: 10 },
}
const codes = (written: string) => Array.from(written, (character) => character.charCodeAt(0))

test('a chat template’s answers are what its messages add, behind its line break', async () => {
  const format = chatTurns(
    chat,
    tools.map(({ schema }) => schema),
  )
  const limits = { ...NO_LIMITS, max_parallel_calls: 2 }
  const prompt: Message[] = [{ role: 'user', content: 'go' }]
  const held = new Conversation({ format, tools, limits, response_length: 500 }, prompt)
  const call = (name: string, args: string) =>
    `<tool_call>{"name": "${name}", "arguments": ${args}}</tool_call>`
  const said = `well ${call('calculator', '{"expression": "2*3"}')}<tool_call>no JSON</tool_call>${call('lookup', '{"key": "7"}')}${call('lookup', '{}')}.`
  const appended = await held.say(codes(said))
  expect(chat.decode(appended ?? [])).toBe('\nt26.t270.A')
  expect(held.tool_calls.map(({ name }) => name)).toEqual(['calculator', 'lookup'])
  expect(await held.say(codes('6'))).toBeUndefined()
  expect(held.num_turns).toBe(4)
})

test('a call needs JSON, a name and arguments', () => {
  const calls = (body: string) => parseHermes(`a<tool_call>${body}</tool_call>b`)
  expect(calls('\n{"name": "x", "arguments": null}\n')).toEqual({
    content: 'ab',
    calls: [{ name: 'x', arguments: null }],
  })
  for (const body of ['', '[]', '3', '{"name": "x"}', '{"name": 1, "arguments": {}}', "{'name'}"])
    expect(calls(body).calls).toEqual([])
  expect(parseHermes('<tool_call>{"name": "x"')).toEqual({
    content: '<tool_call>{"name": "x"',
    calls: [],
  })
})
