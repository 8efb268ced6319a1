import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ModelFileError } from '../../formats/errors.ts'
import { type Head, unpackWeights } from '../layout/params.ts'
import { packWeights, TINY } from '../testing.ts'
import {
  but,
  bytesOf,
  directory,
  type Files,
  INDEX,
  readModel,
  SHARDS,
  savedModel,
  sharded,
} from './testing.ts'

describe('a model that cannot be read says what is wrong', () => {
  const { json, named, layout, flat } = savedModel()
  const files = directory(json, named)
  const shards = sharded(json, named)
  const rejects = async (broken: Files, message: RegExp | string, head?: Head) => {
    await expect(readModel(broken, head)).rejects.toThrow(message)
    await expect(readModel(broken, head)).rejects.toThrow(ModelFileError)
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

  test('pointers, pages and weights of other kinds, by what they are and with what to do', async () => {
    const text = (x: string) => new TextEncoder().encode(x)
    const lfs = text('version https://git-lfs.github.com/spec/v1\noid sha256:4f1e\nsize 99\n')
    const LFS = 'found a Git LFS pointer in place of the file of 99 bytes; run `git lfs pull`'
    await rejects(
      but(files, { 'model.safetensors': lfs }),
      `model.safetensors: expected safetensors, ${LFS}`,
    )
    await rejects(but(shards, { [SHARDS[1]]: lfs }), `${SHARDS[1]}: expected safetensors, ${LFS}`)
    await rejects(but(files, { 'config.json': lfs }), `config.json: expected JSON, ${LFS}`)
    await rejects(but(shards, { [INDEX]: lfs }), `${INDEX}: expected JSON, ${LFS}`)
    const others: readonly [Uint8Array, RegExp][] = [
      [text('../../blobs/4f1e3a7c'), /a path as text \(\.\.\/\.\.\/blobs\/4f1e3a7c\)/],
      [text('<!DOCTYPE html><html></html>'), /a web page; download the file itself/],
      [new Uint8Array(), /an empty file/],
      [Uint8Array.of(0x80, 2, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9), /pickle.*save_pretrained/],
      [text('GGUF\x03\0\0\0\x01\0'), /a GGUF file/],
      [Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3), /compressed with gzip; unpack/],
    ]
    for (const [bytes, message] of others) {
      await rejects(but(files, { 'model.safetensors': bytes }), message)
      const alone = but(files, { 'model.safetensors': undefined, 'pytorch_model.bin': bytes })
      await rejects(
        alone,
        /^model\.safetensors: expected this file or .*, found pytorch_model\.bin, /,
      )
      await rejects(alone, message)
    }
    const weights = files.get('model.safetensors')
    await rejects(
      but(files, { 'model.safetensors': weights?.subarray(0, weights.length - 4) }),
      /it is cut off; download or copy it again/,
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
    const asInts = Uint8Array.from(ints.replaceAll('"F32"', '"I32"'), (c) => c.charCodeAt(0))
    await rejects(
      but(files, { 'model.safetensors': asInts }),
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
    const critic = savedModel(TINY, 'value_head')
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
        const outcome = await readModel(broken).catch((error) => error)
        if (outcome instanceof Error && !(outcome instanceof ModelFileError)) throw outcome
        if (!(outcome instanceof Error)) expect(outcome.layout.size).toBe(layout.size)
      }),
      { numRuns: 200 },
    )
  })

  test('and the truth still reads', async () => {
    expect((await readModel(shards)).weights).toEqual(
      packWeights(layout, unpackWeights(layout, flat)),
    )
  })
})
