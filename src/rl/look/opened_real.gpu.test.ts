// A model of SmolLM2-135M's shape with random weights: opened, looked into and written with.
// Figures in docs/models.md.
import { expect, test } from 'vitest'
import { bytesFile, type RangedFile } from '../../formats/ranged_file.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { openHfModel } from '../../model/hf/hf_model.ts'
import { type ModelConfig, modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import { OpenedModel } from './opened_model.ts'

const SMOLLM2_135M: ModelConfig = {
  model_type: 'llama',
  vocab_size: 49_152,
  hidden_size: 576,
  intermediate_size: 1536,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  head_dim: 64,
  rms_norm_eps: 1e-5,
  rope_theta: 1e5,
  tie_word_embeddings: true,
}

/** Bits of BF16 numbers of about ±0.03, one after the other: nothing of the file's size is ever in
 * memory. */
function randomBits(begin: number, end: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(end - begin)
  for (let i = 0; i < bytes.length; i++) {
    const at = begin + i
    const mixed = Math.imul(at >> 1, 0x9e3779b1) >>> 16
    // 0x3c.. and 0xbc.. are 0.0078 to 0.031.
    bytes[i] = at % 2 === 0 ? mixed & 0xff : 0x3c | (mixed & 0x80)
  }
  return bytes
}

/** Its weights as one BF16 file. */
function weightFile(): RangedFile {
  let end = 0
  const listed = paramLayout(modelShape(SMOLLM2_135M)).params.map(({ name, shape, size }) => {
    const begin = end
    end += 2 * size
    return [name, { dtype: 'BF16', shape, data_offsets: [begin, end] }]
  })
  const text = JSON.stringify(Object.fromEntries(listed))
  const header = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 8) * 8))
  const head = new Uint8Array(8 + header.length)
  new DataView(head.buffer).setUint32(0, header.length, true)
  head.set(header, 8)
  return {
    name: 'model.safetensors',
    size: head.length + end,
    read: async (from, to) => (to <= head.length ? head.slice(from, to) : randomBits(from, to)),
  }
}

test.runIf(process.env.LONG_TESTS)(
  'a model of 135M weights is opened, read and continued',
  // SwiftShader needs many minutes.
  { timeout: 45 * 60_000 },
  async () => {
    const config = new TextEncoder().encode(JSON.stringify(SMOLLM2_135M))
    const file = weightFile()
    const hf = await openHfModel({
      open: async (name) =>
        name === file.name
          ? file
          : name === 'config.json'
            ? bytesFile(name, new Uint8Array(config))
            : undefined,
    })
    expect(hf.layout.num_parameters).toBe(134_515_008)
    const began = performance.now()
    const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ largest }))
    const loaded = performance.now()
    const ids = [1, 2, 3, 4, 5, 6, 7, 8]
    const lens = await model.look({ ids, first: 0, count: 8 }, [])
    const looked = performance.now()
    const settings = { temperature: 0, top_p: 1, top_k: 0, max_tokens: 8, seed: 1 }
    const written = await model.generation.write(ids, settings, { onTokens: () => {} })
    const ended = performance.now()
    expect(lens.normed.entropy).toHaveLength(8 * 31)
    expect([...lens.normed.entropy].every((x) => x > 0 && x <= Math.log(49_152) + 1e-3)).toBe(true)
    expect(written).toHaveLength(8)
    const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1)
    const speed = (file.size / 2 ** 20 / ((loaded - began) / 1000)).toFixed(0)
    console.log(
      `${model.adapter}: ${(model.bytes / 2 ** 30).toFixed(2)} GiB; opened in ${seconds(began, loaded)} s (${speed} MiB/s), ` +
        `lens of 8 tokens ${seconds(loaded, looked)} s, 512 columns of prompt and 8 tokens ${seconds(looked, ended)} s`,
    )
    model.close()
  },
)
