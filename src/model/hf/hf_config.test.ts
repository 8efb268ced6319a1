import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ModelFileError } from '../../formats/errors.ts'
import { BARE, parseConfig as parse, QWEN3 } from './testing.ts'

const qwen3 = (fields: object) => parse({ ...QWEN3, ...fields })
describe('what a config says', () => {
  test('a whole one', () => {
    expect(parse(QWEN3)).toEqual({
      config: {
        model_type: 'qwen3',
        vocab_size: 24,
        hidden_size: 32,
        intermediate_size: 48,
        num_hidden_layers: 3,
        num_attention_heads: 4,
        num_key_value_heads: 2,
        head_dim: 16,
        rms_norm_eps: 1e-5,
        rope_theta: 1e6,
        tie_word_embeddings: true,
        padding_idx: 0,
      },
      architecture: 'Qwen3ForCausalLM',
      head: 'lm_head',
      eos_token_ids: [2],
      pad_token_id: 0,
    })
  })

  test('a bare llama takes the defaults of its class', () => {
    expect(parse({ ...BARE, model_type: 'llama' })).toEqual({
      config: {
        ...BARE,
        model_type: 'llama',
        num_key_value_heads: 4,
        head_dim: 8,
        rms_norm_eps: 1e-6,
        rope_theta: 10_000,
        tie_word_embeddings: false,
      },
      architecture: undefined,
      head: 'lm_head',
      eos_token_ids: [2],
      pad_token_id: undefined,
    })
  })

  test('a bare qwen3 has heads of 128 and no end token, a bare qwen2 heads of hidden_size / heads', () => {
    const bare = parse({ ...BARE, model_type: 'qwen3' })
    expect(bare.config.head_dim).toBe(128)
    expect(bare.eos_token_ids).toEqual([])
    const qwen2 = parse({ ...BARE, model_type: 'qwen2', head_dim: null }).config
    expect(qwen2).toMatchObject({ head_dim: 8, num_key_value_heads: 4, rms_norm_eps: 1e-6 })
  })

  test.each([
    ['qwen3', 'Qwen3'],
    ['qwen2', 'Qwen2'],
    ['llama', 'Llama'],
  ])('the classes of %s say which head it has', (model_type, prefix) => {
    const headOf = (suffix: string) =>
      parse({
        ...BARE,
        model_type,
        architectures: [prefix + suffix],
        id2label: { 0: 'LABEL_0' },
      }).head
    expect(headOf('ForCausalLM')).toBe('lm_head')
    expect(headOf('ForTokenClassification')).toBe('value_head')
    expect(headOf('ForSequenceClassification')).toBe('reward_head')
  })

  test('several end tokens, none, and one named twice', () => {
    expect(qwen3({ eos_token_id: [2, 5, 2] }).eos_token_ids).toEqual([2, 5])
    expect(qwen3({ eos_token_id: null }).eos_token_ids).toEqual([])
    expect(parse({ ...BARE, model_type: 'llama', eos_token_id: null }).eos_token_ids).toEqual([])
  })

  test('fields that change nothing here are passed over', () => {
    const same = {
      sliding_window: 4096,
      max_window_layers: 1,
      attention_bias: null,
      layer_types: null,
      transformers_version: '9',
      something: { else: [1] },
    }
    expect(qwen3(same)).toEqual(parse(QWEN3))
    // Qwen2 has biases, whatever it says about them.
    expect(parse({ ...BARE, model_type: 'qwen2', attention_bias: true }).config.head_dim).toBe(8)
  })
})

describe('refusing by name', () => {
  test.each<[string, unknown, RegExp | string]>([
    [
      'model_type',
      'mistral',
      'config.json: model_type: expected qwen3, qwen2, llama, found "mistral"',
    ],
    ['model_type', 'constructor', /model_type/],
    ['model_type', undefined, /model_type: .* found nothing/],
    [
      'architectures',
      ['LlamaForCausalLM'],
      /architectures: expected one of Qwen3ForCausalLM, .* found \["LlamaForCausalLM"\]/,
    ],
    ['architectures', ['Qwen3Model'], /architectures/],
    ['architectures', ['Qwen3ForCausalLM', 'Qwen3Model'], /architectures/],
    ['architectures', 'Qwen3ForCausalLM', /architectures/],
    ['attention_bias', true, /attention_bias: expected false, found true/],
    ['mlp_bias', true, /mlp_bias: expected false, found true/],
    ['hidden_act', 'gelu', /hidden_act: expected "silu", found "gelu"/],
    ['use_sliding_window', true, /use_sliding_window: expected false/],
    [
      'layer_types',
      ['full_attention', 'sliding_attention', 'full_attention'],
      /layer_types: expected "full_attention" everywhere, found "sliding_attention"/,
    ],
    ['layer_types', ['full_attention'], /layer_types: expected a list of 3/],
    ['is_causal', false, /is_causal/],
    ['attention_dropout', 0.1, /attention_dropout: expected 0, found 0.1/],
    ['partial_rotary_factor', 0.5, /partial_rotary_factor/],
    ['quantization_config', { bits: 4 }, /quantization_config: expected none .* found an object/],
    ['vocab_size', undefined, /vocab_size: expected a whole number from 1 to \d+, found nothing/],
    ['vocab_size', '24', /vocab_size: .* found "24"/],
    ['hidden_size', 32.5, /hidden_size: .* found 32.5/],
    ['intermediate_size', 0, /intermediate_size: .* found 0/],
    ['num_hidden_layers', -1, /num_hidden_layers: .* found -1/],
    ['num_attention_heads', 1e300, /num_attention_heads: .* found 1e\+300/],
    [
      'num_key_value_heads',
      3,
      /num_attention_heads: expected a multiple of num_key_value_heads \(3\)/,
    ],
    ['head_dim', 7, /head_dim: expected an even number/],
    ['rms_norm_eps', 0, /rms_norm_eps: expected a number above 0 and at most 1, found 0/],
    ['rms_norm_eps', null, /rms_norm_eps: .* found null/],
    ['rope_theta', -1, /rope_theta/],
    ['tie_word_embeddings', 'yes', /tie_word_embeddings: expected true or false, found "yes"/],
    ['eos_token_id', 'end', /eos_token_id: expected a token id of at least 0, found "end"/],
    ['eos_token_id', [2, -1], /eos_token_id: .* found -1/],
    ['pad_token_id', 24, /pad_token_id: expected a token below vocab_size 24, found 24/],
    ['pad_token_id', [0], /pad_token_id/],
  ])('%s %j', (name, value, message) => {
    const layers = name === 'num_hidden_layers' ? { layer_types: null } : {}
    expect(() => qwen3({ ...layers, [name]: value })).toThrow(message)
    expect(() => qwen3({ ...layers, [name]: value })).toThrow(ModelFileError)
  })

  test('a head of several labels', () => {
    const head = (fields: object) =>
      qwen3({ architectures: ['Qwen3ForTokenClassification'], ...fields })
    expect(head({ num_labels: 1 }).head).toBe('value_head')
    expect(() => head({ id2label: { 0: 'a', 1: 'b' } })).toThrow(/num_labels: expected 1, found 2/)
    expect(() => head({ num_labels: 3 })).toThrow(/num_labels: expected 1, found 3/)
    // Hugging Face takes two where nothing is said.
    expect(() => head({})).toThrow(/num_labels: expected 1, or an id2label of one entry/)
    expect(qwen3({ id2label: { 0: 'a', 1: 'b' } }).head).toBe('lm_head')
  })

  test('a model beyond reach, without allocating it', () => {
    const huge = { vocab_size: 2 ** 22, hidden_size: 2 ** 17, tie_word_embeddings: false }
    expect(() => qwen3(huge)).toThrow(/expected at most 4000000000 weights, found \d+/)
    expect(() => qwen3({ num_hidden_layers: 1e9, layer_types: null })).toThrow(/from 1 to 1024/)
  })

  test.each([null, [], 'x', 3, undefined])('%j is no config', (json) => {
    expect(() => parse(json)).toThrow(/expected a JSON object/)
  })

  test('a head_dim that does not come out even', () => {
    expect(() => parse({ ...BARE, model_type: 'llama', hidden_size: 30 })).toThrow(
      /head_dim: expected a whole number .* found 7.5/,
    )
  })
})

describe('whatever the config', () => {
  /** Either it parses, or it says what is wrong with the file. */
  function survives(json: unknown): void {
    try {
      parse(json)
    } catch (error) {
      if (!(error instanceof ModelFileError)) throw error
      expect(error.message.length).toBeLessThan(1000)
    }
  }
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.integer(),
    fc.double(),
    fc.constantFrom(null, true, 'llama', 1024, 2 ** 53, 1e308, [[[]]], 'x'.repeat(10_000)),
    fc.record({ rope_type: fc.constantFrom('llama3', 'default'), rope_theta: fc.jsonValue() }),
  )

  test('arbitrary JSON', () => {
    fc.assert(fc.property(anything, survives), { numRuns: 300 })
  })

  test('a valid config with fields replaced or taken away', () => {
    const names = [...Object.keys(QWEN3), 'rope_parameters', 'num_labels', 'id2label', 'mlp_bias']
    const edits = fc.array(fc.tuple(fc.constantFrom(...names), fc.option(anything)), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(edits, (changes) => {
        const json: Record<string, unknown> = { ...QWEN3 }
        for (const [name, value] of changes)
          if (value === null) delete json[name]
          else json[name] = value
        survives(json)
      }),
      { numRuns: 1000 },
    )
  })
})
