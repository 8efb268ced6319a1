import { expect, test } from 'vitest'
import { loadTokenizer } from '../../../tasks/tokenizers/load_tokenizer.ts'
import { idsOf, promptIds, specialWords } from './opened_text.ts'

/** A tokenizer of two letters that puts something around a text. */
const load = (post_processor: object | null, config: object = {}) =>
  loadTokenizer({
    'tokenizer.json': JSON.stringify({
      added_tokens: [
        { id: 2, content: '<s>', special: true },
        { id: 3, content: '</s>', special: true },
      ],
      normalizer: null,
      pre_tokenizer: null,
      post_processor,
      decoder: null,
      model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] },
    }),
    'tokenizer_config.json': JSON.stringify({ bos_token: '<s>', eos_token: '</s>', ...config }),
  })

const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } })
const TEMPLATE = {
  type: 'TemplateProcessing',
  single: [special('<s>'), { Sequence: { id: 'A', type_id: 0 } }],
  special_tokens: { '<s>': { id: '<s>', ids: [2], tokens: ['<s>'] } },
}
const FRAMED = { cls: ['<s>', 2], sep: ['</s>', 3] }

// Ids are those of transformers 5.18, where the file's own post-processor decides and add_bos_token
// changes nothing.
test.for([
  ['a template', TEMPLATE, {}, [2, 0, 1], 'begins with <s>'],
  ['a template', TEMPLATE, { add_bos_token: false }, [2, 0, 1], 'begins with <s>'],
  [
    'RoBERTa',
    { type: 'RobertaProcessing', ...FRAMED },
    {},
    [2, 0, 1, 3],
    'begins with <s> and ends with </s>',
  ],
  [
    'BERT',
    { type: 'BertProcessing', ...FRAMED },
    {},
    [2, 0, 1, 3],
    'begins with <s> and ends with </s>',
  ],
  [
    'a sequence',
    { type: 'Sequence', processors: [{ type: 'ByteLevel' }, TEMPLATE] },
    {},
    [2, 0, 1],
    'begins with <s>',
  ],
  ['bytes', { type: 'ByteLevel' }, {}, [0, 1], ''],
  ['nothing', null, { add_bos_token: true }, [0, 1], ''],
] as const)('a plain text gets what %s adds, %j', async ([, processor, config, ids, words]) => {
  const tokenizer = await load(processor, config)
  expect(idsOf('ab', tokenizer, true)).toEqual(ids)
  expect(idsOf('ab', tokenizer, false)).toEqual([0, 1])
  expect(specialWords(tokenizer)).toBe(words)
})

test('a conversation has the beginning token of its template, and no second one', async () => {
  const chat_template = '{{ bos_token }}{{ messages[0].content }}'
  const tokenizer = await load(TEMPLATE, { chat_template })
  const messages = [{ role: 'user', content: 'b' }] as const
  expect(promptIds({ messages }, tokenizer)).toEqual([2, 1])
  expect(promptIds({ text: 'b', add_special_tokens: true }, tokenizer)).toEqual([2, 1])
  expect(promptIds({ text: 'b', add_special_tokens: false }, tokenizer)).toEqual([1])
})
