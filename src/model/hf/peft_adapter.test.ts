import { describe, expect, test } from 'vitest'
import { bytesFile } from '../../formats/ranged_file.ts'
import { writeSafetensors } from '../../formats/safetensors_write.ts'
import { openRanged, PIECE_BYTES, streamTensors } from '../../formats/weight_stream.ts'
import { mergePiece } from '../layout/merge.ts'
import { unpackWeights } from '../layout/params.ts'
import { TINY } from '../testing.ts'
import { flatSink, openHfModel } from './hf_model.ts'
import { openWithAdapter, withAdapter } from './peft_adapter.ts'
import { bytesOf, directory, type Named, readModel, savedModel, source } from './testing.ts'

const { json, named } = savedModel(TINY)
const model = await readModel(directory(json, named))
const Q = 'model.layers.0.self_attn.q_proj'
const [out, columns] = model.layout.params.find(({ name }) => name === `${Q}.weight`)?.shape ?? []
const RANK = 2
const CONFIG = { peft_type: 'LORA', r: RANK, lora_alpha: 3, target_modules: ['q_proj'] }

const values = (size: number, seed: number) =>
  Float32Array.from({ length: size }, (_, i) => Math.sin(i + seed))
const A = values(RANK * columns, 1)
const B = values(out * RANK, 2)
const factors = (module = Q): Named =>
  new Map([
    [`base_model.model.${module}.lora_A.weight`, { shape: [RANK, columns], data: A }],
    [`base_model.model.${module}.lora_B.weight`, { shape: [out, RANK], data: B }],
  ])

const adapter = (config: object = CONFIG, tensors: Named = factors()) =>
  source(
    new Map([
      ['adapter_config.json', bytesOf(config)],
      ['adapter_model.safetensors', writeSafetensors(tensors)],
    ]),
  )

/** How far the merged projection is from the base, at [row, column]. */
async function change(config: object, row: number, column: number): Promise<number> {
  const merged = unpackWeights(model.layout, (await withAdapter(model, adapter(config))).weights)
  const base = unpackWeights(model.layout, model.weights)
  const at = row * columns + column
  return merged[`${Q}.weight`][at] - base[`${Q}.weight`][at]
}

const product = (row: number, column: number) =>
  B[row * RANK] * A[column] + B[row * RANK + 1] * A[columns + column]

test('an adapter that is a Git LFS pointer is refused as one', async () => {
  const pointer = new TextEncoder().encode('version https://git-lfs.github.com/spec/v1\nsize 9\n')
  const files = new Map([
    ['adapter_config.json', bytesOf(CONFIG)],
    ['adapter_model.safetensors', pointer],
  ])
  await expect(withAdapter(model, source(files))).rejects.toThrow(
    /^adapter_model\.safetensors: expected safetensors, found a Git LFS pointer .*`git lfs pull`/,
  )
})

describe('an adapter is merged', () => {
  test('with alpha / r, and nothing else changes', async () => {
    expect(await change(CONFIG, 1, 2)).toBeCloseTo(1.5 * product(1, 2), 5)
    const { weights } = await withAdapter(model, adapter())
    const { offset, size } = model.layout.params.find(({ name }) => name === `${Q}.weight`) ?? {
      offset: 0,
      size: 0,
    }
    const others = (flat: Float32Array) => [
      ...flat.subarray(0, offset),
      ...flat.subarray(offset + size),
    ]
    expect(others(weights)).toEqual(others(model.weights))
  })

  test('with alpha / √r where it says rslora, and with numbers of single modules', async () => {
    const rslora = { ...CONFIG, use_rslora: true }
    expect(await change(rslora, 0, 3)).toBeCloseTo((3 / Math.sqrt(2)) * product(0, 3), 5)
    const pattern = { ...CONFIG, r: 8, rank_pattern: { q_proj: 2 }, alpha_pattern: { q_proj: 4 } }
    expect(await change(pattern, 0, 3)).toBeCloseTo(2 * product(0, 3), 5)
  })
})

describe('an adapter is merged piece by piece', () => {
  const files = directory(json, named)
  const folder = {
    open: async (name: string) => {
      const bytes = files.get(name)
      return bytes && bytesFile(name, bytes as Uint8Array<ArrayBuffer>)
    },
  }

  test.each([4, 28, PIECE_BYTES])('of %s bytes to the same bits', async (pieceBytes) => {
    const { weights } = await withAdapter(model, adapter())
    const opened = await openWithAdapter(await openHfModel(folder), adapter())
    const streamed = new Float32Array(model.layout.size)
    await opened.load(flatSink(model.layout, streamed), { pieceBytes })
    expect(streamed).toEqual(weights)
  })

  test('with a piece, what it came from and the factors in memory: at most 64 MiB', async () => {
    // Qwen3-0.6B's largest projection in BF16, and an adapter of rank 8 on all of its 28 layers.
    const [rows, width] = [3072, 1024]
    const factorBytes = 4 * 8 * 28 * (2 * (1024 + 2048) + 2 * (1024 + 1024) + 3 * (1024 + 3072))
    const header = bytesOf({
      w: { dtype: 'BF16', shape: [rows, width], data_offsets: [0, 2 * rows * width] },
    })
    const head = new Uint8Array(8 + header.length)
    new DataView(head.buffer).setUint32(0, header.length, true)
    head.set(header, 8)
    let [stored, most, written] = [0, 0, 0]
    const opened = await openRanged({
      name: 'model.safetensors',
      size: head.length + 2 * rows * width,
      read: async (begin, end) => {
        stored = end <= head.length ? 0 : end - begin
        return end <= head.length ? head.slice(begin, end) : new Uint8Array(end - begin)
      },
    })
    const entry = opened.entries.get('w')
    if (!entry) throw new Error('no tensor')
    const param = { ...model.layout.params[0], name: 'w', shape: [rows, width], offset: 0 }
    const own = {
      param: { ...param, size: rows * width },
      rank: 1,
      scale: 1,
      A: new Float32Array(width).fill(1),
      B: new Float32Array(rows).fill(2),
    }
    await streamTensors([{ name: 'w', file: opened, entry }], {
      write: (_, first, piece) => {
        mergePiece(piece, first, own)
        expect([piece[0], piece.at(-1)]).toEqual([2, 2])
        most = Math.max(most, stored + piece.buffer.byteLength + 8 * width + factorBytes)
        written += piece.length
      },
    })
    expect(written).toBe(rows * width)
    expect(most).toBeGreaterThan(2 ** 24)
    expect(most).toBeLessThanOrEqual(2 ** 26)
  })
})

describe('is refused by name', () => {
  test.for<[string, object, string]>([
    ['another kind', { peft_type: 'IA3' }, 'peft_type: expected "LORA", found "IA3"'],
    ['DoRA', { use_dora: true }, 'use_dora: expected none'],
    ['whole modules', { modules_to_save: ['lm_head'] }, 'modules_to_save: expected none'],
    ['biases', { bias: 'all' }, 'bias: expected "none", found "all"'],
    ['PiSSA', { init_lora_weights: 'pissa' }, 'init_lora_weights: expected one that leaves'],
    ['a rank', { r: 0 }, 'r: expected a whole number from 1'],
    ['a pattern', { rank_pattern: { '(a+)+$': 2 } }, 'rank_pattern: expected names of modules'],
    ['an alpha', { lora_alpha: '3' }, 'lora_alpha: expected a finite number'],
    ['token rows', { trainable_token_indices: [1] }, 'trainable_token_indices: expected none'],
  ])('%s', async ([, own, said]) => {
    await expect(withAdapter(model, adapter({ ...CONFIG, ...own }))).rejects.toThrow(said)
  })

  test.for<[string, Named, string]>([
    [
      'an embedding',
      new Map([
        ['base_model.model.model.embed_tokens.lora_embedding_A', { shape: [1], data: [1] }],
      ]),
      'expected lora_A and lora_B of the projections',
    ],
    ['another model', factors('model.layers.9.self_attn.q_proj'), 'none of its own'],
    [
      'one half',
      new Map([...factors()].slice(0, 1)),
      'expected lora_A and lora_B, found only lora_A',
    ],
    ['another size', factors('model.layers.0.mlp.down_proj'), 'expected ['],
  ])('%s', async ([, tensors, said]) => {
    await expect(withAdapter(model, adapter(CONFIG, tensors))).rejects.toThrow(said)
  })

  test('a folder without weights or without a config', async () => {
    await expect(withAdapter(model, source(new Map()))).rejects.toThrow(
      'adapter_config.json: expected',
    )
    const files = new Map([['adapter_config.json', bytesOf(CONFIG)]])
    await expect(withAdapter(model, source(files))).rejects.toThrow(
      'adapter_model.safetensors: expected a file (only safetensors are read), found none',
    )
  })
})
