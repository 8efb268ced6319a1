import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ModelConfig, modelShape } from '../params/config.ts'
import { ModelFileError } from '../params/errors.ts'
import { type Head, initialWeights, paramLayout, unpackWeights } from '../params/params.ts'
import { CONFIGS, packWeights, TINY } from '../testing.ts'
import { type FileSource, readHfModel } from './hf_model.ts'
import type { FloatDtype } from './safetensors_header.ts'
import { writeSafetensors } from './safetensors_write.ts'

type Files = Map<string, Uint8Array>
type Named = Map<string, { shape: readonly number[]; data: ArrayLike<number> }>

const CLASSES: Record<Head, string> = {
  lm_head: 'ForCausalLM',
  value_head: 'ForTokenClassification',
  reward_head: 'ForSequenceClassification',
}
const PREFIX = { qwen3: 'Qwen3', qwen2: 'Qwen2', llama: 'Llama' }
const SHARDS = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
const INDEX = 'model.safetensors.index.json'

const bytesOf = (json: unknown) => new TextEncoder().encode(JSON.stringify(json))

/** A model as Hugging Face saves it, and its weights in the flat layout. */
function model(config: ModelConfig = TINY, head: Head = 'lm_head', seed = 1) {
  const layout = paramLayout(modelShape(config), head)
  const flat = initialWeights(layout, seed)
  // initialWeights pads with zeros; packing drops nothing else.
  const named: Named = new Map(
    layout.params.map(({ name, shape, offset, size }) => [
      name,
      { shape, data: flat.slice(offset, offset + size) },
    ]),
  )
  const json = {
    ...config,
    architectures: [PREFIX[config.model_type] + CLASSES[head]],
    eos_token_id: 2,
    ...(head === 'lm_head' ? {} : { id2label: { 0: 'LABEL_0' } }),
  }
  return { layout, flat, named, json }
}

function directory(json: unknown, named: Named, dtype?: FloatDtype): Files {
  return new Map([
    ['config.json', bytesOf(json)],
    ['model.safetensors', writeSafetensors(named, { format: 'pt' }, dtype)],
  ])
}

/** Every other tensor in the second shard. */
function sharded(json: unknown, named: Named): Files {
  const parts = [0, 1].map((part) => [...named].filter((_, i) => i % 2 === part))
  const weight_map = Object.fromEntries(
    parts.flatMap((part, i) => part.map(([name]) => [name, SHARDS[i]])),
  )
  return new Map([
    ['config.json', bytesOf(json)],
    [INDEX, bytesOf({ metadata: { total_size: 1 }, weight_map })],
    ...parts.map((part, i) => [SHARDS[i], writeSafetensors(part)] as const),
  ])
}

function source(files: Files): FileSource & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    read: async (name) => {
      asked.push(name)
      return files.get(name)
    },
  }
}

const read = (files: Files, head?: Head) => readHfModel(source(files), head ? { head } : {})

/** With some files replaced, or taken away. */
const but = (files: Files, changes: Record<string, Uint8Array | undefined>): Files =>
  new Map(
    Object.entries({ ...Object.fromEntries(files), ...changes }).filter(
      (file): file is [string, Uint8Array] => file[1] !== undefined,
    ),
  )

describe('a model comes back', () => {
  test.each(CONFIGS.map((config) => [config.model_type, config] as const))(
    '%s',
    async (_, config) => {
      const { json, named, flat, layout } = model(config)
      const back = await read(directory(json, named))
      expect(back.config).toEqual(config)
      expect(back.layout).toEqual(layout)
      expect(back.weights).toEqual(flat)
      expect(back).toMatchObject({ head: 'lm_head', dtype: 'F32', eos_token_ids: [2] })
      expect(back).not.toHaveProperty('pad_token_id')
    },
  )

  test.each(['value_head', 'reward_head'] as const)('with a %s', async (head) => {
    for (const config of CONFIGS) {
      const { json, named, flat, layout } = model(config, head)
      const back = await read(directory(json, named), head)
      expect(back.weights).toEqual(flat)
      expect(back.layout).toEqual(layout)
      expect(back.head).toBe(head)
    }
  })

  test('from 16-bit files, rounded', async () => {
    const { json, named, layout, flat } = model()
    for (const dtype of ['F16', 'BF16'] as const) {
      const back = await read(directory(json, named, dtype))
      expect(back.dtype).toBe(dtype)
      const values = unpackWeights(layout, back.weights)
      // Values are below 2, so half the last bit is 2^-11 and 2^-8 of that at most.
      const error = dtype === 'F16' ? 2 ** -11 : 2 ** -8
      for (const [name, exact] of Object.entries(unpackWeights(layout, flat)))
        exact.forEach((x, i) => {
          expect(Math.abs(values[name][i] - x)).toBeLessThanOrEqual(error)
        })
    }
  })

  test('from shards, each read once', async () => {
    const { json, named, flat } = model()
    const files = source(sharded(json, named))
    expect((await readHfModel(files)).weights).toEqual(flat)
    for (const shard of SHARDS) expect(files.asked.filter((name) => name === shard)).toHaveLength(1)
  })

  test('in both spellings of the rotary embedding', async () => {
    const { named, json } = model()
    const { rope_theta, ...rest } = json
    const rope_scaling = {
      rope_type: 'llama3' as const,
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 16,
    }
    const old = await read(directory({ ...json, rope_scaling }, named))
    const recent = { ...rest, rope_parameters: { ...rope_scaling, rope_theta } }
    expect(old.config).toEqual({ ...TINY, rope_scaling })
    expect((await read(directory(recent, named))).config).toEqual(old.config)
  })

  test('with the tokens of generation_config.json first', async () => {
    const { json, named } = model()
    const files = directory({ ...json, pad_token_id: 3 }, named)
    const generation = async (fields: object) => {
      const { eos_token_ids, pad_token_id } = await read(
        but(files, { 'generation_config.json': bytesOf(fields) }),
      )
      return { eos_token_ids, pad_token_id }
    }
    expect(await generation({ eos_token_id: [4, 5] })).toEqual({
      eos_token_ids: [4, 5],
      pad_token_id: 3,
    })
    expect(await generation({ eos_token_id: 4, pad_token_id: 1 })).toEqual({
      eos_token_ids: [4],
      pad_token_id: 3,
    })
    expect(await generation({ eos_token_id: null })).toMatchObject({ eos_token_ids: [2] })
    const plain = but(directory(json, named), {
      'generation_config.json': bytesOf({ pad_token_id: 1 }),
    })
    expect((await read(plain)).pad_token_id).toBe(1)
  })

  test('with buffers that mean nothing, and a second copy of a tied head', async () => {
    const { json, named, flat } = model()
    const embedding = named.get('model.embed_tokens.weight')
    if (!embedding) throw new Error('no embedding')
    const inv_freq = { shape: [4], data: [1, 2, 3, 4] }
    const more: Named = new Map([
      ...named,
      ['model.layers.0.self_attn.rotary_emb.inv_freq', inv_freq],
      ['lm_head.weight', embedding],
    ])
    expect((await read(directory(json, more))).weights).toEqual(flat)
    expect((await read(sharded(json, more))).weights).toEqual(flat)
  })

  test('for a head the file does not name', async () => {
    const { json, named } = model(TINY, 'reward_head')
    const back = await read(directory({ ...json, architectures: undefined }, named), 'reward_head')
    expect(back.head).toBe('reward_head')
  })
})

describe('what is wrong is said', () => {
  const { json, named, layout, flat } = model()
  const files = directory(json, named)
  const shards = sharded(json, named)
  const rejects = async (broken: Files, message: RegExp | string, head?: Head) => {
    await expect(read(broken, head)).rejects.toThrow(message)
    await expect(read(broken, head)).rejects.toThrow(ModelFileError)
  }
  const norm = 'model.norm.weight'
  const withTensor = (name: string, shape: number[]) => {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1))
    return directory(json, new Map([...named, [name, { shape, data }]]))
  }

  test('files that are not there', async () => {
    await rejects(new Map(), 'config.json: expected a file, found none')
    await rejects(
      but(files, { 'model.safetensors': undefined }),
      /^model\.safetensors: expected this file or model\.safetensors\.index\.json, found neither/,
    )
    await rejects(but(shards, { [SHARDS[1]]: undefined }), /^model-00002-of-00002.* found none/)
  })

  test('files that are something else', async () => {
    const text = (x: string) => new TextEncoder().encode(x)
    await rejects(but(files, { 'config.json': text('{') }), /^config\.json: expected JSON/)
    await rejects(but(files, { 'config.json': text('[]') }), 'expected a JSON object, found []')
    await rejects(
      but(files, { 'generation_config.json': text('x') }),
      /^generation_config\.json: expected JSON/,
    )
    await rejects(
      but(files, { 'generation_config.json': bytesOf({ eos_token_id: 'x' }) }),
      /^generation_config\.json: eos_token_id: expected/,
    )
    await rejects(
      but(files, { 'generation_config.json': bytesOf({ pad_token_id: 11 }) }),
      /^generation_config\.json: pad_token_id: .* vocab_size 11, found 11/,
    )
    await rejects(
      but(files, { 'config.json': new Uint8Array(2 ** 23 + 1) }),
      /^config\.json: expected at most 8388608 bytes/,
    )
    const weights = files.get('model.safetensors')
    await rejects(
      but(files, { 'model.safetensors': weights?.subarray(0, weights.length - 4) }),
      /^model\.safetensors: expected \d+ bytes for the tensors in the header, found \d+/,
    )
  })

  test('a tensor that is missing, misshapen, unknown or not of floats', async () => {
    const missing = new Map([...named].filter(([name]) => name !== norm))
    await rejects(
      directory(json, missing),
      `model.safetensors: tensor "${norm}": expected [20], found nothing`,
    )
    await rejects(
      sharded(json, missing),
      `${INDEX}: tensor "${norm}": expected [20], found nothing`,
    )
    await rejects(
      withTensor(norm, [20, 1]),
      `model.safetensors: tensor "${norm}": expected [20], found [20, 1]`,
    )
    await rejects(withTensor(norm, [19]), 'expected [20], found [19]')
    await rejects(
      withTensor('model.layers.3.input_layernorm.weight', [20]),
      /tensor "model\.layers\.3\.input_layernorm\.weight": expected the tensors of a qwen3/,
    )
    // Qwen2's biases would change the mathematics of a Qwen3.
    await rejects(withTensor('model.layers.0.self_attn.q_proj.bias', [32]), /q_proj\.bias/)
    const ints = new TextDecoder('latin1').decode(files.get('model.safetensors'))
    const as_ints = Uint8Array.from(ints.replaceAll('"F32"', '"I32"'), (c) => c.charCodeAt(0))
    await rejects(
      but(files, { 'model.safetensors': as_ints }),
      /tensor "model\.embed_tokens\.weight": expected floating-point weights .* found I32/,
    )
  })

  test('a tied head that says something else', async () => {
    const other = flat.slice(0, 11 * 20)
    other[7] += 1
    const twice = new Map([...named, ['lm_head.weight', { shape: [11, 20], data: other }] as const])
    await rejects(
      directory(json, twice),
      /tensor "lm_head.weight": expected the values of model.embed_tokens.weight .* at element 7/,
    )
    await rejects(withTensor('lm_head.weight', [11, 19]), 'expected [11, 20], found [11, 19]')
  })

  test('another head than the one that is needed', async () => {
    await rejects(
      files,
      /architectures: expected a model with a value_head, found Qwen3ForCausalLM with a lm_head/,
      'value_head',
    )
    const critic = model(TINY, 'value_head')
    await rejects(
      directory(critic.json, critic.named),
      /expected a model with a lm_head, found Qwen3ForTokenClassification with a value_head/,
      'lm_head',
    )
    const { architectures: _, ...unnamed } = json
    await rejects(
      directory(unnamed, named),
      /tensor "score.weight": expected \[1, 20\]/,
      'value_head',
    )
  })

  test('an index that leads astray', async () => {
    const index = (weight_map: unknown) => but(shards, { [INDEX]: bytesOf({ weight_map }) })
    const honest: Record<string, string> = JSON.parse(
      new TextDecoder().decode(shards.get(INDEX)),
    ).weight_map
    for (const name of [
      '../x.safetensors',
      '/etc/x.safetensors',
      'a\\b.safetensors',
      '..',
      'x.bin',
      3,
    ])
      await rejects(
        index({ ...honest, [norm]: name }),
        /^model\.safetensors\.index\.json: tensor "model\.norm\.weight": expected the name of a \.safetensors file/,
      )
    await rejects(index([]), /weight_map: expected an object, found \[\]/)
    const swapped = SHARDS.find((shard) => shard !== honest[norm]) as string
    await rejects(
      index({ ...honest, [norm]: swapped }),
      `${swapped}: tensor "${norm}": expected by ${INDEX}, found nothing`,
    )
    const { [norm]: _, ...unlisted } = honest
    await rejects(index(unlisted), /tensor "model.norm.weight": expected in no file by/)
  })

  test('a config for larger weights than the file has, before they are allocated', async () => {
    const claims = { ...json, vocab_size: 2 ** 22, hidden_size: 512 }
    await rejects(directory(claims, named), /expected \[4194304, 512\], found \[11, 20\]/)
  })

  test('nothing but ModelFileError, whatever happens to a file', async () => {
    const edit = fc.record({
      name: fc.constantFrom('config.json', INDEX, ...SHARDS),
      // Headers and JSON are where it hurts; half of the edits land there.
      at: fc.oneof(fc.nat(400), fc.nat(20_000)),
      kind: fc.constantFrom('flip', 'cut', 'insert'),
      byte: fc.oneof(
        fc.constantFrom(...[...'{}[]",:0123456789'].map((c) => c.charCodeAt(0))),
        fc.nat(255),
      ),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        const broken = new Map(shards)
        for (const { name, at, kind, byte } of edits) {
          const bytes = broken.get(name) ?? new Uint8Array()
          const place = at % (bytes.length + 1)
          const rest = bytes.subarray(kind === 'flip' ? place + 1 : place)
          const after = kind === 'cut' ? [] : [byte, ...rest]
          broken.set(name, Uint8Array.from([...bytes.subarray(0, place), ...after]))
        }
        const outcome = await read(broken).catch((error) => error)
        if (outcome instanceof Error && !(outcome instanceof ModelFileError)) throw outcome
        if (!(outcome instanceof Error)) expect(outcome.layout.size).toBe(layout.size)
      }),
      { numRuns: 200 },
    )
  })

  test('and the truth still reads', async () => {
    expect((await read(shards)).weights).toEqual(packWeights(layout, unpackWeights(layout, flat)))
  })
})
