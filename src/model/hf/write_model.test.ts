// Tests that hf_model.ts reads what is written; src/cli/outside_judges.test.ts lets transformers
// read it.
import { describe, expect, test } from 'vitest'
import type { OutFile } from '../../formats/out_file.ts'
import { safetensorsPieces, writeSafetensors } from '../../formats/safetensors_write.ts'
import { tokenizerConfig, tokenizerJson } from '../../formats/write_tokenizer.ts'
import { modelShape } from '../layout/config.ts'
import { type Head, initialWeights, paramLayout } from '../layout/params.ts'
import { CONFIGS, TINY } from '../testing.ts'
import { type FileSource, readHfModel } from './hf_model.ts'
import { hfConfig } from './write_config.ts'
import { modelFiles } from './write_model.ts'

const tokens = ['<pad>', '<eos>', ...'0123456789']
const vocabulary = (size: number) => ({
  tokens: Array.from({ length: size }, (_, id) => tokens[id] ?? `token${id}`),
  pad_token_id: 0,
  eos_token_id: 1,
})

function written(config = TINY, head: Head = 'lm_head') {
  const layout = paramLayout(modelShape(config), head)
  const weights = initialWeights(layout, 3)
  return {
    config,
    layout,
    weights,
    vocabulary: vocabulary(config.vocab_size),
    max_position_embeddings: 40,
  }
}

const bytesOf = ({ pieces }: OutFile) => Buffer.concat([...pieces])
const source = (files: readonly OutFile[]): FileSource => ({
  read: async (name) => {
    const file = files.find(({ path }) => path === name)
    return file && new Uint8Array(bytesOf(file))
  },
})

describe('a model that is written', () => {
  test.for(
    CONFIGS.flatMap((config) =>
      (['lm_head', 'value_head', 'reward_head'] as const).map((head) => ({ config, head })),
    ),
  )('is read back bit for bit: $config.model_type, $head', async ({ config, head }) => {
    const model = written(config, head)
    const back = await readHfModel(source(modelFiles(model)), { head })
    expect(back.head).toBe(head)
    expect(back.config).toEqual({
      ...config,
      tie_word_embeddings: head === 'lm_head' && config.tie_word_embeddings,
      // As transformers does: pad_token_id is what it gives to the embedding.
      padding_idx: 0,
    })
    expect(Buffer.from(back.weights.buffer)).toEqual(Buffer.from(model.weights.buffer))
    expect([back.eos_token_ids, back.pad_token_id]).toEqual([[1], 0])
  })

  test('names the padding token once, whatever the lab trained', () => {
    for (const padding_idx of [-1, 0, 5]) {
      const json = hfConfig({ ...TINY, padding_idx }, 'lm_head', vocabulary(11), 40)
      expect(json).toMatchObject({ pad_token_id: 0 })
      expect(json).not.toHaveProperty('padding_idx')
    }
  })

  test('has a tied head once', () => {
    const names = modelFiles(written()).map(({ path }) => path)
    expect(names).toContain('model.safetensors')
    const header = bytesOf(
      modelFiles(written()).find(({ path }) => path === 'model.safetensors') as OutFile,
    ).toString('latin1')
    expect(header).not.toContain('lm_head')
  })

  test('lies in shards with an index where it is large, and is read back', async () => {
    const model = written()
    const files = modelFiles(model, 8000)
    const shards = files.filter(({ path }) => path.endsWith('.safetensors'))
    expect(shards.length).toBeGreaterThan(2)
    expect(shards[0].path).toBe(`model-00001-of-0000${shards.length}.safetensors`)
    const back = await readHfModel(source(files))
    expect(Buffer.from(back.weights.buffer)).toEqual(Buffer.from(model.weights.buffer))
  })

  test('is refused where weights or tokens are not of the model', () => {
    const model = written()
    expect(() => modelFiles({ ...model, weights: model.weights.subarray(1) })).toThrow(
      /weights: expected \d+ values/,
    )
    expect(() => modelFiles({ ...model, vocabulary: vocabulary(9) })).toThrow(
      'tokenizer: expected 11 tokens as the model has, got 9',
    )
  })
})

test('pieces of a file are its bytes, and none is large', () => {
  const tensors = [
    ['b', { shape: [3, 700_000], data: new Float32Array(2_100_000).map((_, i) => i / 7) }],
    ['a', { shape: [2], data: [1, -2], as: 'I32' as const }],
    ['empty', { shape: [0], data: [] }],
  ] as const
  for (const dtype of ['F32', 'F16', 'BF16'] as const) {
    const pieces = [...safetensorsPieces(tensors, { format: 'pt' }, dtype)]
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(2 ** 22)
    const whole = writeSafetensors(tensors, { format: 'pt' }, dtype)
    expect(Buffer.compare(Buffer.concat(pieces), Buffer.from(whole))).toBe(0)
  }
})

describe('a tokenizer that is written', () => {
  test('names the end token as verl looks for it, and both special tokens are such', () => {
    const json = tokenizerJson(vocabulary(12))
    expect(json.added_tokens).toMatchObject([
      { id: 0, content: '<pad>', special: true },
      { id: 1, content: '<|im_end|>', special: true },
    ])
    expect(json.model).toMatchObject({ vocab: { '<|im_end|>': 1, '9': 11 }, unk_token: '<pad>' })
    expect(tokenizerConfig(vocabulary(12), 9)).toMatchObject({ eos_token: '<|im_end|>' })
  })

  test('cuts tokens of several characters off first, the longest before its beginning', () => {
    const json = tokenizerJson({
      tokens: ['<pad>', '<eos>', 'a', 'ab', 'ab+', '\n'],
      pad_token_id: 0,
      eos_token_id: 1,
    })
    const pattern = (json.pre_tokenizer as { pattern: { Regex: string } }).pattern.Regex
    expect('abab+a'.match(new RegExp(pattern, 'g'))).toEqual(['ab', 'ab+', 'a'])
  })

  test('is refused where two tokens have one text', () => {
    expect(() =>
      tokenizerJson({ tokens: ['<pad>', '<eos>', 'a', 'a'], pad_token_id: 0, eos_token_id: 1 }),
    ).toThrow('a text of its own')
  })
})

test('a tokenizer that is more than a list of words is written as it came, with every end token', () => {
  const files = { 'tokenizer.json': '{"model": {}}', 'generation_config.json': '{}' }
  const given = written()
  const own = { ...given.vocabulary, eos_token_ids: [1, 2], files }
  const texts = new Map(
    modelFiles({ ...given, vocabulary: own }).map((file) => [file.path, bytesOf(file).toString()]),
  )
  expect(texts.get('tokenizer.json')).toBe('{"model": {}}')
  expect(texts.get('generation_config.json')).toContain('"eos_token_id": [')
  expect(texts.get('chat_template.jinja')).toContain('messages')
  expect(texts.has('tokenizer_config.json')).toBe(false)
})
