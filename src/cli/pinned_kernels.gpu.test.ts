// Kernels that a document pins are those that it is trained on: the same bits as with the choice
// given to the trainer.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { Gpu } from '../kernels/device/gpu.ts'
import { LabFailure } from './base/command.ts'
import { train } from './train/train.ts'

const folder = mkdtempSync(join(tmpdir(), 'understory-pinned-'))
afterAll(() => rmSync(folder, { recursive: true }))

const TINY = {
  seed: 3,
  task: { id: 'sort_digits', length: 2 },
  model: {
    hidden_size: 16,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 8,
    intermediate_size: 24,
  },
  phases: [
    { kind: 'rl', steps: 2 },
    { kind: 'sft', steps: 2 },
  ],
  rollout: { train_batch_size: 4, n: 4 },
  actor: { ppo_mini_batch_size: 2 },
  validation: { test_freq: 2, prompts: 8, n: 1 },
  probe: { rows: 8 },
}

const { architecture, description } = await adapterFacts()
// SwiftShader takes minutes for kernels with barriers; lavapipe and GPUs do not.
const VARIANT = /swiftshader/i.test(`${architecture} ${description}`)
  ? 'vector_4x4'
  : 'slices_16x16'
const PINNED = `*:${VARIANT}`

async function adapterFacts() {
  const gpu = await Gpu.open()
  gpu.destroy()
  return gpu.facts
}

function json(name: string, value: unknown): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(value))
  return file
}

/** Trains and returns what came of it, apart from timings. */
async function trained(name: string, document: object, ...options: string[]) {
  const out = join(folder, name)
  const weights = join(folder, `${name}_weights`)
  vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const file = json(`${name}.json`, document)
  try {
    expect(await train.run([file, '--out', out, '--save', weights, ...options])).toBe(0)
  } finally {
    vi.restoreAllMocks()
  }
  const lines = readFileSync(join(out, 'metrics.jsonl'), 'utf8').trim().split('\n')
  const metrics = lines.map((line) => {
    const { step, data } = JSON.parse(line) as { step: number; data: Record<string, number> }
    const kept = Object.entries(data).filter(([metric]) => !/^timing_|^perf\//.test(metric))
    return [step, Object.fromEntries(kept)]
  })
  return {
    metrics,
    weights: readFileSync(join(weights, 'weights.f32')).toString('base64'),
    matmul: JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')).matmul,
  }
}

test('a pinned run is the run with that choice, the default kernels are no choice, and --matmul goes first', async () => {
  const choice = json('choice.json', { '*': VARIANT })
  const plain = await trained('plain', TINY)
  const chosen = await trained('chosen', TINY, '--matmul', choice)
  const pinned = await trained('pinned', { ...TINY, kernels: PINNED })
  expect(pinned).toEqual(chosen)
  expect(pinned.matmul).toEqual({ '*': VARIANT })
  expect(pinned.weights).not.toEqual(plain.weights)
  expect(await trained('by_default', { ...TINY, kernels: 'default' })).toEqual(plain)
  expect(plain.matmul).toBeUndefined()
  const others = { ...TINY, kernels: '*:register_8x8' }
  expect(await trained('replaced', others, '--matmul', choice)).toEqual(chosen)
})

test('there is nothing to measure where kernels are pinned', async () => {
  for (const kernels of [PINNED, 'default']) {
    const tuned = train.run([json('tuned.json', { ...TINY, kernels }), '--tune'])
    await expect(tuned).rejects.toThrow(LabFailure)
    await expect(tuned).rejects.toThrow(/^--tune: .*pins its kernels.*Leave --tune out/)
  }
})
