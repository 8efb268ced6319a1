// Samples texts that a model writes itself: prompts of its task with its own responses, sampled.

import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { Rollout } from '../../../model/rollout/rollout.ts'
import { uploadModel } from '../../../model/transformer/model.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { promptBatch } from '../../experience/batch.ts'
import { HeldOut } from './answers/held_out.ts'

/** The generator's stream for these texts; training and validation have others. */
const TEXTS_STREAM = 3

export interface OwnTexts {
  /** Token ids of prompt and response, the end token included. */
  readonly trained: readonly (readonly number[])[]
  /** Of held-out problems. */
  readonly held_out: readonly (readonly number[])[]
}

/** How many of each. */
export type TextCounts = Readonly<Record<keyof OwnTexts, number>>

/** Samples them at the temperature of the last phase of reinforcement, one response to each
 * problem; the same for the same run. */
export async function ownTexts(
  gpu: Gpu,
  config: TrainerConfig,
  { layout, weights }: { readonly layout: ParamLayout; readonly weights: Float32Array },
  counts: TextCounts,
): Promise<OwnTexts> {
  const { model, tensors, size } = HeldOut.room(gpu, config, layout)
  uploadModel(gpu, model, weights)
  const { seed, task, phases } = config
  const { eos_token_ids, pad_token_id } = task.tokenizer
  const special = { eos_token_ids, pad_token_id }
  const rollout = await Rollout.create(gpu, model, size, tensors, { special })
  const rl = phases.filter((phase) => phase.kind === 'rl').at(-1)
  const { temperature = 1, top_k = null, top_p = 1 } = rl?.rollout ?? {}
  const { rows, response_length: R } = size
  const written = async (split: 'train' | 'test', step: number, count: number) => {
    const texts: number[][] = []
    for (let first = 0; first < count; first += rows) {
      const samples = Array.from({ length: rows }, (_, b) => task.sample(seed, first + b, split))
      const draw = { seed, stream: TEXTS_STREAM, step, row_offset: first }
      await rollout.generate(promptBatch(samples, task), { temperature, top_k, top_p, ...draw })
      const [ids] = await gpu.read(rollout.tensors.response_ids)
      samples.slice(0, count - first).forEach(({ prompt }, b) => {
        const response = [...ids.subarray(b * R, (b + 1) * R)]
        const end = response.findIndex((id) => eos_token_ids.includes(id)) + 1
        texts.push([...task.tokenizer.encode(prompt), ...response.slice(0, end || R)])
      })
    }
    return texts
  }
  return {
    trained: await written('train', 0, counts.trained),
    held_out: await written('test', 1, Math.min(counts.held_out, task.test_size)),
  }
}
