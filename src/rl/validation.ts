// Held-out accuracy of the final policy.
import type { Gpu } from '../kernels/gpu.ts'
import type { Rollout, Sampling } from '../model/rollout.ts'
import { promptBatch } from './batch.ts'
import type { TrainerConfig } from './trainer.ts'

/** The generator's stream for validation; training has its own (trainer.ts). */
const VALIDATION_STREAM = 1

type Filter = Pick<Sampling, 'temperature' | 'top_k' | 'top_p'>

/**
 * Accuracy on the first `validation.prompts` held-out problems: greedy once, and `validation.n` sampled responses to each
 * with the last reinforcement phase's temperature and filters. Metric names are verl's `val-core` and `val-aux`.
 */
export async function validate(
  gpu: Gpu,
  rollout: Rollout,
  config: TrainerConfig,
  step: number,
): Promise<Record<string, number>> {
  const started = performance.now()
  const { task, validation, phases } = config
  const rl = phases.filter((phase) => phase.kind === 'rl').at(-1)
  const { temperature = 1, top_k = -1, top_p = 1 } = rl?.rollout ?? {}
  const greedy: Filter = { temperature: 0, top_k: -1, top_p: 1 }
  const metrics: Record<string, number> = {
    [`val-aux/${task.id}/acc/greedy`]: await accuracy(gpu, rollout, config, step, 1, 0, greedy),
  }
  if (validation.n > 0)
    metrics[`val-core/${task.id}/acc/mean@${validation.n}`] = await accuracy(
      gpu,
      rollout,
      config,
      step,
      validation.n,
      validation.prompts,
      { temperature, top_k, top_p },
    )
  metrics['timing_s/testing'] = (performance.now() - started) / 1000
  return metrics
}

/** Share of right answers over `n` responses per prompt, in batches of the rollout's size; the last one is filled up. */
async function accuracy(
  gpu: Gpu,
  rollout: Rollout,
  { seed, task, tokenizer, validation }: TrainerConfig,
  step: number,
  n: number,
  first_row: number,
  filter: Filter,
): Promise<number> {
  const { rows: B, response_length: R } = rollout.size
  const total = validation.prompts * n
  let correct = 0
  for (let first = 0; first < total; first += B) {
    const samples = Array.from({ length: B }, (_, b) =>
      task.sample(seed, Math.floor((first + b) / n), 'test'),
    )
    rollout.generate(promptBatch(samples, task, tokenizer), {
      ...filter,
      seed,
      stream: VALIDATION_STREAM,
      step,
      row_offset: first_row + first,
    })
    const [ids] = await gpu.read(rollout.tensors.response_ids)
    for (let b = 0; b < Math.min(B, total - first); b++) {
      const response = ids.subarray(b * R, (b + 1) * R)
      if (response.includes(tokenizer.eos_token_id))
        correct += task.score(samples[b].prompt, tokenizer.decode(response))
    }
  }
  return correct / total
}
