// Tests that a model is given a whole text to read, or the page says what it leaves out.
import { expect, test } from 'vitest'
import { CHAT_TEMPLATE } from '../../../formats/write_tokenizer.ts'
import { characters } from '../../../tasks/tokenizers/characters.ts'
import { loadTokenizer } from '../../../tasks/tokenizers/load_tokenizer.ts'
import { hasChat, idsOf, promptIds } from './opened_text.ts'

const pad = { id: 0, content: '<pad>', special: true }
const eos = { id: 1, content: '<eos>', special: true }
/** As the lab writes a vocabulary of characters: what is unknown would be padding. */
const json = {
  added_tokens: [pad, eos],
  model: { type: 'WordLevel', vocab: { '<pad>': 0, '<eos>': 1, 1: 2, 2: 3 }, unk_token: '<pad>' },
  pre_tokenizer: {
    type: 'Split',
    pattern: { Regex: '[\\s\\S]' },
    behavior: 'Isolated',
    invert: false,
  },
}
const config = {
  eos_token: '<eos>',
  pad_token: '<pad>',
  chat_template: '{% for m in messages %}1{{ m.content }}2{% endfor %}',
}
const written = (chat_template = config.chat_template) =>
  loadTokenizer({
    'tokenizer.json': JSON.stringify(json),
    'tokenizer_config.json': JSON.stringify({ ...config, chat_template }),
  })

test('characters that the vocabulary lacks are named, and nothing is read', async () => {
  for (const tokenizer of [await written(), characters('12')]) {
    expect(idsOf('121', tokenizer, true)).toEqual([2, 3, 2])
    expect(() => idsOf('1a2ba', tokenizer, true)).toThrow(
      'The vocabulary of this model has no "a", "b": write the text without them.',
    )
  }
  const tokenizer = await written()
  const asked = (content: string) => ({ messages: [{ role: 'user' as const, content }] })
  expect(promptIds(asked('2'), tokenizer)).toEqual([2, 3, 3])
  expect(() => promptIds(asked('x'), tokenizer)).toThrow('has no "x": write the text without it.')
})

test('a template that writes the text of a message alone makes no conversation', async () => {
  expect(hasChat(await written())).toBe(true)
  expect(hasChat(await written("{{ raise_exception('a system message first') }}"))).toBe(true)
  expect(hasChat(await written(CHAT_TEMPLATE))).toBe(false)
  expect(hasChat(characters('12'))).toBe(false)
  expect(hasChat(undefined)).toBe(false)
})
