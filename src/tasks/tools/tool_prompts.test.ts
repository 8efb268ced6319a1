// Prompts with the schemas of tools in them, as a chat template writes them.
import { expect, test } from 'vitest'
import { createTask } from '../index.ts'
import type { Sample, Task } from '../task/task.ts'
import { characters } from '../tokenizers/characters.ts'
import type { ChatMessage, RenderChat } from '../tokenizers/hugging_face/chat_template.ts'
import { calculator } from './calculator.ts'
import { lookup } from './lookup.ts'
import { messagesOf, withToolPrompts } from './tool_prompts.ts'

const renderChat: RenderChat = (messages, { tools = [], add_generation_prompt } = {}) => {
  const names = tools.map((tool) => (tool as typeof calculator.schema).function.name).join()
  const system = names === '' ? '' : `<${names}>`
  const said = messages.map(({ role, content }) => `${role[0]}:${content};`).join('')
  return `${system}${said}${add_generation_prompt ? 'a:' : ''}`
}
const alphabet = ' 0123456789<>,:;abcdefghijklmnopqrstuvwxyz'
const tokenizer = { ...characters(alphabet), renderChat }

function taskOf(sample: Pick<Sample, 'prompt' | 'messages'>): Task {
  const rest = { ground_truth: '4', demonstration: '4' }
  return {
    ...createTask('sort_digits'),
    tokenizer,
    max_prompt_length: 12,
    sample: () => ({ ...sample, ...rest }),
    score: (prompt, response) => (prompt === sample.prompt && response === '4' ? 1 : 0),
  }
}

test('messages are rendered with the tools, and the task still knows the problem', () => {
  const messages: readonly ChatMessage[] = [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: '2 2' },
  ]
  const own = taskOf({ prompt: renderChat(messages, { add_generation_prompt: true }), messages })
  const task = withToolPrompts(own, [calculator, lookup])
  const sample = task.sample(1, 0, 'train')
  expect(sample.prompt).toBe('<calculator,lookup>s:be brief;u:2 2;a:')
  expect(sample.messages).toEqual(messages)
  expect(task.score(sample.prompt, '4')).toBe(1)
  expect(task.score(sample.prompt, '5')).toBe(0)
})

test('a text is what the user says, and fits', () => {
  const task = withToolPrompts(taskOf({ prompt: 'twelve signs' }), [calculator])
  const { prompt } = task.sample(1, 0, 'test')
  expect(prompt).toBe('<calculator>u:twelve signs;a:')
  expect(tokenizer.encode(prompt).length).toBeLessThanOrEqual(task.max_prompt_length)
  expect(messagesOf(task.sample(1, 0, 'test'))).toEqual([{ role: 'user', content: 'twelve signs' }])
})

test('without tools, or without a template, prompts stay as they are', () => {
  const own = taskOf({ prompt: '1' })
  expect(withToolPrompts(own, [])).toBe(own)
  const digits = createTask('sort_digits')
  expect(withToolPrompts(digits, [calculator])).toBe(digits)
})
