// Takes a supervised step as the page takes it, on a problem of random tokens.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { gpuChoice } from '../../src/kernels/matmul/gpu_variants.ts'
import { CONTROL } from '../../src/kernels/optimizer/optimizer.ts'
import { type ModelConfig, modelShape } from '../../src/model/layout/config.ts'
import { initialWeights, paramLayout } from '../../src/model/layout/params.ts'
import { matmulProducts } from '../../src/model/transformer/transformer.ts'
import type { SftPhase } from '../../src/rl/config/phase.ts'
import { makeBatch, padPrompts } from '../../src/rl/experience/batch.ts'
import { Actor } from '../../src/rl/learners/actor.ts'
import type { ActorSize } from '../../src/rl/learners/actor_tensors.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import type { SftProblem, SftRunner } from '../peers/problem.ts'
import { seededValues } from './values.ts'

/** A small model of an architecture that the other libraries also have. */
export const SMALL_MODEL: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: 26,
  hidden_size: 32,
  intermediate_size: 96,
  num_hidden_layers: 4,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  head_dim: 16,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  tie_word_embeddings: true,
}

/** A supervised phase of `rows` demonstrations per step. */
export const sftPhase = (rows: number): SftPhase => ({
  kind: 'sft',
  name: '',
  steps: 1,
  batch_size: rows,
  grad_clip: 1,
  optim: {
    lr: 3e-4,
    lr_warmup_steps: 0,
    lr_scheduler_type: 'constant',
    min_lr_ratio: 0,
    betas: [0.9, 0.95],
    weight_decay: 0.01,
  },
})

/** A new model on rows of random tokens without padding: the first token is the prompt, the others
 * are the response. */
export function randomProblem(model: ModelConfig, rows: number, width: number): SftProblem {
  const layout = paramLayout(modelShape(model))
  const half = model.vocab_size / 2
  const ids = seededValues(rows * width, 3).map((x) => Math.floor((x + 1) * half))
  const prompts = Array.from({ length: rows }, (_, b) => [ids[b * width]])
  const responseIds = Uint32Array.from(ids.filter((_, i) => i % width !== 0))
  const size = { rows, prompt_length: 1, response_length: width - 1 }
  const noEnd = model.vocab_size
  return {
    layout,
    weights: initialWeights(layout, 1),
    batch: makeBatch(padPrompts(prompts, 1, 0), responseIds, size, noEnd),
    phase: sftPhase(rows),
  }
}

/** The page's own actor with the problem loaded. `destroy` closes the device. */
export async function actorSft(
  gpu: Gpu,
  { layout, weights, batch, phase }: SftProblem,
): Promise<SftRunner> {
  const { prompt_length, response_length } = batch
  const width = prompt_length + response_length
  const rows = phaseRows(phase, width, layout.shape)
  const tokens = rows.micro * width
  const size: ActorSize = {
    prompt_length,
    response_length,
    batchRows: rows.batch,
    microRows: rows.micro,
    updates: 1,
    probeRows: 1,
    hasReference: false,
    kernels: { matmul: gpuChoice(matmulProducts(layout.shape, tokens), gpu.facts) },
  }
  const actor = await Actor.create(gpu, layout, size, [phase], { weights })
  actor.upload(batch, rows)
  const { optim, grad_clip } = phase
  return {
    step: () => {
      actor.beginStep()
      actor.updateSupervised(batch, rows.micro, optim, grad_clip, optim.lr)
    },
    finish: () => gpu.finish(),
    read: async () => {
      const [sums, history] = await gpu.read(actor.tensors.sums, actor.tensors.history)
      return { loss: sums[0], grad_norm: history[CONTROL.indexOf('grad_norm')] }
    },
    destroy: () => gpu.destroy(),
  }
}
