import { expect, test } from 'vitest'
import { elementBytes, MemoryPlan, type Tensor } from '../../../kernels/device/base/tensor.ts'
import { type ModelConfig, modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import { createWorkspace } from '../../../model/transformer/workspace.ts'
import { keptBytes, microRows, microTokens } from '../../learners/base/batch_rows.ts'
import { CONFIG, REWARD_MODEL, RL } from '../../testing.ts'
import { distillPhase, LARGER } from '../distilled/testing.ts'
import { pairSize, planMemory } from './memory.ts'
import { planTeacher } from './teacher_memory.ts'

/** SmolLM2-135M's sizes. */
const LARGE: ModelConfig = {
  ...CONFIG.model,
  vocab_size: 49_152,
  hidden_size: 576,
  intermediate_size: 1536,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  head_dim: 64,
}

/** GRPO on 64 responses of up to 256 tokens. */
const config = (enable_gradient_checkpointing: boolean) => ({
  ...CONFIG,
  model: LARGE,
  enable_gradient_checkpointing,
  phases: [
    {
      ...RL,
      target_layer: 30,
      rollout: { ...RL.rollout, train_batch_size: 8, n: 8, max_response_length: 256 },
      actor: { ...RL.actor, ppo_mini_batch_size: 4 },
    },
  ],
})

test('135 million weights train in 8 GB, and recomputed activations leave the memory of one block', () => {
  const kept = planMemory(config(false))
  const again = planMemory(config(true))
  expect(kept.bytes.weights).toBeGreaterThan(4 * 134e6)
  expect(kept.bytes.optimizer).toBeGreaterThan(2 * 4 * 134e6)
  expect(again.total()).toBeLessThan(8e9)
  expect(again.bytes.activations).toBeLessThan(kept.bytes.activations / 2)
  expect(again.bytes.weights).toBe(kept.bytes.weights)
})

test('blocks keep at most 1 GiB of a pass, and what is reckoned of a token is what is planned', () => {
  const deep = { ...LARGE, num_hidden_layers: 48, vocab_size: 512 }
  const tokens = microTokens(deep)
  expect(tokens * keptBytes(deep)).toBeLessThanOrEqual(2 ** 30)
  expect((tokens + 1) * keptBytes(deep)).toBeGreaterThan(2 ** 30)
  const planned = (width: number, model: ModelConfig) => {
    const plan = new MemoryPlan()
    const size = { rows: 1, width, response_length: 1, trains: true }
    const { hidden, layers, halves = [] } = createWorkspace(plan, modelShape(model), size)
    const kept = [...layers, ...halves].flatMap((block) => Object.values<Tensor>({ ...block }))
    return [...new Set([...hidden, ...kept])].reduce(
      (sum, { dtype, shape }) => sum + elementBytes(dtype) * shape.reduce((a, b) => a * b, 1),
      0,
    )
  }
  const halved = { ...deep, activations_dtype: 'bfloat16' } as const
  expect(planned(7, deep)).toBe(7 * keptBytes(deep))
  expect(planned(7, halved)).toBe(7 * keptBytes(halved))
  expect(keptBytes(halved) / keptBytes(deep)).toBeCloseTo(0.6, 1)
  expect(microTokens(halved)).toBeGreaterThan(1.6 * tokens)
})

test('a teacher takes what its run takes more than the same run without it', () => {
  const algorithm = { ...RL.algorithm, opd_kl_coef: 1 }
  const alone = { ...CONFIG, phases: [{ ...RL, algorithm }] }
  const bytes = planTeacher({ ...alone, teacher: LARGER })
  expect(bytes).toBe(planMemory({ ...alone, teacher: LARGER }).total() - planMemory(alone).total())
  const weights = 4 * paramLayout(modelShape(LARGER)).num_parameters
  expect(bytes).toBeGreaterThan(1.2 * weights)
  expect(planTeacher(alone)).toBe(0)
  // A teacher that writes answers has a rollout of its own.
  const reads = { ...CONFIG, teacher: LARGER, phases: [distillPhase({ teacher: 'model' })] }
  const writes = {
    ...reads,
    phases: [distillPhase({ teacher: 'model', seq_kd: true, lmbda: 0.5 })],
  }
  expect(planTeacher(writes)).toBeGreaterThan(1.1 * planTeacher(reads))
})

test('no product of a micro-batch is longer than 2e10 operations, and small models go through at once', () => {
  expect(microTokens(CONFIG.model)).toBe(4096)
  const tokens = microTokens(LARGE)
  expect(2 * tokens * 576 * 49_152).toBeLessThanOrEqual(2e10)
  expect(2 * (tokens + 1) * 576 * 49_152).toBeGreaterThan(2e10)
  expect(microRows(64, 100, 4096)).toBe(32)
  expect(microRows(64, 100, tokens)).toBe(2)
  // One row is the least, however long.
  expect(microRows(64, 1000, tokens)).toBe(1)
})

test('responses of pairs lie in memory 8,192 tokens at a time, in groups of whole prompts', () => {
  const pairs = { ...REWARD_MODEL.pairs, count: 32, held_out: 8 }
  const sizeOf = (max_prompt_length: number, max_response_length: number) =>
    pairSize(
      {
        ...CONFIG,
        task: { ...CONFIG.task, max_prompt_length, max_response_length },
        phases: [{ ...REWARD_MODEL, pairs }],
      },
      pairs,
    )
  expect(sizeOf(16, 16)).toMatchObject({ rows: 64, n: 2 })
  expect(sizeOf(16, 16).groupRows).toBeUndefined()
  expect(sizeOf(176, 80)).toMatchObject({ rows: 64, n: 2, groupRows: 32 })
  expect(sizeOf(4000, 80)).toMatchObject({ rows: 64, n: 2, groupRows: 2 })
})
