import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { writeSafetensors } from '../formats/safetensors_write.ts'
import { expectClose } from '../kernels/testing.ts'
import { internalsRef } from '../model/internals/internals.ref.ts'
import type { ModelConfig } from '../model/layout/config.ts'
import { unpackWeights } from '../model/layout/params.ts'
import { CONFIGS, TINY, testWeights } from '../model/testing.ts'
import { forwardRef } from '../model/transformer/transformer.ref.ts'
import { parseTokenRows } from './input/token_rows.ts'
import { probe } from './probe.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-probe-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CLASS = { qwen3: 'Qwen3', qwen2: 'Qwen2', llama: 'Llama' }

/** A model directory as Hugging Face writes it, and its weights in float64. */
function writeModel(name: string, config: ModelConfig, head = 'ForCausalLM') {
  const { layout, flat, exact } = testWeights(config, 1)
  const dir = join(folder, name)
  mkdirSync(dir)
  const architectures = [`${CLASS[config.model_type]}${head}`]
  const json = {
    architectures,
    hidden_act: 'silu',
    pad_token_id: 0,
    eos_token_id: 1,
    num_labels: 1,
    ...config,
  }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(json))
  const named = unpackWeights(layout, flat)
  const tensors = layout.params.map(
    ({ name, shape }) => [name, { shape, data: named[name] }] as const,
  )
  writeFileSync(join(dir, 'model.safetensors'), writeSafetensors(tensors))
  return { dir, exact }
}

function file(name: string, value: unknown): string {
  writeFileSync(join(folder, name), JSON.stringify(value))
  return join(folder, name)
}

const IDS = [
  [4, 9, 2, 7, 3],
  [5, 10],
]
const LEFT_PADDED = { vocab_size: TINY.vocab_size, pad_token_id: 0 }

describe.for(CONFIGS.map((config, i) => [`${config.model_type} ${i}`, config] as const))(
  '%s',
  ([name, config]) => {
    test('a model directory’s inside equals the float64 model, and padding is null', async () => {
      const { dir, exact } = writeModel(name, config)
      const out = join(folder, `${name}.out.json`)
      const tokens = file(`${name}.ids.json`, IDS)
      expect(await probe.run([dir, '--tokens', tokens, '--out', out])).toBe(0)
      const report = JSON.parse(readFileSync(out, 'utf8'))

      const rows = parseTokenRows(JSON.stringify(IDS), 'ids', LEFT_PADDED)
      expect(report).toMatchObject({ ...rows, model: { ...config, dtype: 'F32', pad_token_id: 0 } })
      expect(report.adapter).not.toBe('')
      const batch = {
        rows: 2,
        width: 5,
        input_ids: rows.input_ids.flat(),
        attention_mask: rows.attention_mask.flat(),
        position_ids: rows.position_ids.flat(),
      }
      const truth = internalsRef(config, exact, forwardRef(config, exact, batch))
      const { logits, logits_layer: _, kl_of_layer: __, ...others } = truth.values
      expect(report).not.toHaveProperty('kl_of_layer')
      const V = config.vocab_size
      expect(report.logits[1].slice(0, 3)).toEqual([null, null, null])
      expectClose(report.logits[1][4], logits.subarray(9 * V), { atol: 3e-5, rtol: 2e-5 })
      for (const [quantity, expected] of Object.entries(others)) {
        const isLogProb = quantity.startsWith('logp')
        const mask = isLogProb ? truth.nextMask : truth.mask
        const columns = Array.from(expected, (x, i) => (mask[i % 10] ? x : null)).filter(
          (_, i) => !isLogProb || i % 5 < 4,
        )
        const flat: (number | null)[] = report[quantity].flat(3)
        expect(flat.map((x) => x === null)).toEqual(columns.map((x) => x === null))
        expectClose(flat.map(Number), columns.map(Number), { atol: 3e-5, rtol: 2e-5 })
      }
      const L = config.num_hidden_layers
      expect(report.logp_next).toEqual(report.logp_next_layer_norm[L])
      const { ent_attn_in, cos_hidden, perplexity_all } = report.forward_means
      const total = report.ent_attn_in[0].flat().reduce((sum: number, x: number) => sum + x, 0)
      expect(ent_attn_in.mean_all[0]).toBeCloseTo(total / 7, 6)
      expect(cos_hidden.mean_all[L][L]).toBeCloseTo(1, 6)
      const logProbs = report.logp_next.flat().filter((x: unknown) => x !== null)
      expect(logProbs).toHaveLength(5)
      const mean = logProbs.reduce((sum: number, x: number) => sum + x, 0) / 5
      expect(perplexity_all).toBeCloseTo(Math.exp(-mean), 4)
    })
  },
)

test('a typed text goes through the folder’s tokenizer, and an adapter changes what is said', async () => {
  const dir = 'conformance/fixtures/trl/repeat_digit/model'
  const out = join(folder, 'typed.out.json')
  const probed = async (...more: string[]) => {
    await probe.run([dir, '--text', '7=', '--out', out, ...more])
    return JSON.parse(readFileSync(out, 'utf8'))
  }
  const plain = await probed()
  expect(plain.input_ids).toEqual([[9, 17]])
  const adapter = join(folder, 'adapter')
  mkdirSync(adapter)
  const name = 'base_model.model.model.layers.1.mlp.up_proj'
  const waves = (count: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(i))
  const factors = new Map([
    [`${name}.lora_A.weight`, { shape: [2, 128], data: waves(256) }],
    [`${name}.lora_B.weight`, { shape: [256, 2], data: waves(512) }],
  ])
  const config = { peft_type: 'LORA', r: 2, lora_alpha: 4 }
  writeFileSync(join(adapter, 'adapter_config.json'), JSON.stringify(config))
  writeFileSync(join(adapter, 'adapter_model.safetensors'), writeSafetensors(factors))
  const adapted = await probed('--adapter', adapter)
  // What is below the layer stays as it was.
  expect(adapted.ent_layer_raw[1]).toEqual(plain.ent_layer_raw[1])
  expect(adapted.ent_layer_raw[2]).not.toEqual(plain.ent_layer_raw[2])
  const refused = probe.run([writeModel('no tokenizer', TINY).dir, '--text', 'a'])
  await expect(refused).rejects.toThrow('has no tokenizer.json; give ids with --tokens')
})

test('a single token has no log-probability and no perplexity', async () => {
  const { dir } = writeModel('single', TINY)
  const out = join(folder, 'single.out.json')
  await probe.run([dir, '--tokens', file('single.ids.json', [3]), '--out', out])
  const report = JSON.parse(readFileSync(out, 'utf8'))
  expect(report.logits[0]).toHaveLength(1)
  expect(report.logp_next).toEqual([[]])
  expect(report.forward_means.perplexity_all).toBeUndefined()
  expect(report.forward_means.ent_layer_raw.mean_all).toHaveLength(4)
})

test('what cannot be probed is refused in words', async () => {
  const { dir } = writeModel('refused', TINY)
  const run = (value: unknown) => probe.run([dir, '--tokens', file('refused.json', value)])
  await expect(run([[1], [2, 11]])).rejects.toThrow(
    /refused.json: row 1, column 1: expected a token id below vocab_size 11, found 11/,
  )
  await expect(run([])).rejects.toThrow(/empty list/)
  await expect(probe.run([dir, '--tokens', join(folder, 'none.json')])).rejects.toThrow(/ENOENT/)
  await expect(probe.run([join(folder, 'none'), '--tokens', 'x'])).rejects.toThrow(
    /expected a model directory, found nothing/,
  )
  const critic = writeModel('critic', TINY, 'ForTokenClassification')
  await expect(probe.run([critic.dir, '--tokens', file('ids.json', [1])])).rejects.toThrow(
    /expected a model with a lm_head, found Qwen3ForTokenClassification/,
  )
})
