// Records the first reinforcement steps of a preset, with all that another implementation needs to
// repeat them.

import { presetOf } from '../../src/document/presets/presets.ts'
import { Gpu } from '../../src/kernels/device/gpu.ts'
import { suited } from '../../src/rl/train/suited.ts'
import { Trainer } from '../../src/rl/train/trainer.ts'
import { type HeardActor, listenToActor, rlConfig } from './rl.ts'

const STEPS = 3
/** What the other implementation is compared by. */
const METRICS = [
  'actor/pg_loss',
  'actor/ppo_kl',
  'actor/pg_clipfrac',
  'actor/grad_norm',
  'actor/lr',
]

/** One step: arrays are row-major lists, [B, T] and [B, R]. */
export interface RecordedStep {
  readonly lr: number
  readonly input_ids: number[]
  readonly attention_mask: number[]
  readonly position_ids: number[]
  readonly response_ids: number[]
  readonly response_mask: number[]
  readonly advantages: number[]
  readonly old_log_probs: number[]
  readonly metrics: Record<string, number>
}

/** Weights before the first step, in the layout and with the header that `lab train --save` writes,
 * and the steps. */
export interface RecordedRun {
  readonly header: object
  readonly weights: number[]
  readonly model: object
  readonly phase: object
  readonly rows: object
  readonly prompt_length: number
  readonly response_length: number
  readonly eos_token_id: number
  readonly pad_token_id: number
  readonly steps: readonly RecordedStep[]
}

/** The last rl phase of a preset from these weights. New weights answer nothing right; for them a
 * response of odd length counts as right, so that advantages are not all zero. Throws RangeError
 * for weights of another size. */
export async function recordSteps(
  presetId: string,
  given: readonly number[] | undefined,
): Promise<RecordedRun> {
  const { config: preset, phase: whole } = rlConfig(presetId)
  // A rate of 0 in the first step would leave the first update out of the comparison.
  const optim = { ...whole.actor.optim, lr_warmup_steps: 0 }
  const phase = { ...whole, actor: { ...whole.actor, optim } }
  const scored = given
    ? preset
    : {
        ...preset,
        task: { ...preset.task, score: (_: string, response: string) => response.length % 2 },
      }
  const config = { ...scored, phases: [phase] }
  const gpu = await Gpu.open()
  const heard = listenToActor()
  const trainer = await Trainer.create(gpu, suited(gpu, config))
  if (given) trainer.importWeights(Float32Array.from(given))
  const weights = await trainer.exportWeights()
  await trainer.next() // step 0 trains nothing
  const steps: RecordedStep[] = []
  for (let i = 0; i < STEPS; i++) {
    const { metrics } = await trainer.next()
    steps.push(await stepOf(gpu, heard(), metrics))
  }
  const { actor, updated } = heard()
  const { prompt_length, response_length } = actor.size
  const { eos_token_id, pad_token_id } = config.task.tokenizer
  const experiment = presetOf(presetId)?.experiment
  trainer.destroy()
  return {
    header: {
      format: 'understory-weights-1',
      model: experiment?.model,
      task: experiment?.task,
      count: weights.length,
      step: 0,
      seed: config.seed,
    },
    weights: [...weights],
    model: config.model,
    phase,
    rows: updated[2],
    prompt_length,
    response_length,
    eos_token_id,
    pad_token_id,
    steps,
  }
}

/** The arrays of the step that was just taken. */
async function stepOf(
  gpu: Gpu,
  { actor, updated }: HeardActor,
  metrics: Readonly<Record<string, number>>,
): Promise<RecordedStep> {
  const [batch, , , { lr }] = updated
  const columns = actor.tensors.batch
  const [advantages, oldLogProbs] = await gpu.read(columns.advantages, columns.old_log_probs)
  return {
    lr,
    input_ids: [...batch.input_ids],
    attention_mask: [...batch.attention_mask],
    position_ids: [...batch.position_ids],
    response_ids: [...batch.response_ids],
    response_mask: [...batch.response_mask],
    advantages: [...(advantages as Float32Array)],
    old_log_probs: [...(oldLogProbs as Float32Array)],
    metrics: Object.fromEntries(METRICS.map((name) => [name, metrics[name]])),
  }
}
