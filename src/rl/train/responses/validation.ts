// Measures the held-out accuracy of the final policy.
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { Rollout } from '../../../model/rollout/rollout.ts'
import type { Sampling } from '../../../model/rollout/rollout_inputs.ts'
import type { Scored } from '../../../tasks/rewards/composed.ts'
import type { Written } from '../../../tasks/rewards/response.ts'
import type { Sample } from '../../../tasks/task/task.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { validationPrompts } from '../../config/validation.ts'
import { promptBatch } from '../../experience/batch.ts'
import { mean } from '../../math/stats.ts'
import {
  nameValidationMetrics,
  passMetrics,
  processValidationMetrics,
  type ValidationSamples,
} from '../../math/validation_metrics.ts'
import type { Generation } from '../parts/step_result.ts'
import { conversationSetting, respond as readResponses } from '../parts/turns.ts'
import { scoreTexts } from './scoring.ts'

/** The generator's stream for validation; training has its own (sampled.ts). */
const VALIDATION_STREAM = 1

type Filter = Pick<Sampling, 'temperature' | 'top_k' | 'top_p'>
const LIKELIEST: Filter = { temperature: 0, top_k: null, top_p: 1 }

/** What an evaluation found. */
export interface Validated {
  readonly metrics: Record<string, number>
  /** None without `log_val_generations`. */
  readonly generations: readonly Generation[]
}

/** What the policy makes of the first `validation.prompts` held-out problems, or of all that there
 * are: greedy once, and `validation.n` sampled responses to each with the last reinforcement
 * phase's filters and, unless validation has one, temperature. Metrics are
 * `val-aux/<task>/acc/greedy` and verl's `val-core` and `val-aux` of the samples, such as
 * `val-core/<task>/acc/mean@n`; `reward` is the score there, `acc` whether it is right, and every
 * part of a composed reward has a name of its own. With several responses to each also
 * `val-aux/<task>/pass@<k>/mean` (passMetrics). */
export async function validate(
  gpu: Gpu,
  rollout: Rollout,
  config: TrainerConfig,
  step: number,
): Promise<Validated> {
  const started = performance.now()
  const { task, validation, phases } = config
  const { n } = validation
  const prompts = validationPrompts(validation, task)
  const rl = phases.filter((phase) => phase.kind === 'rl').at(-1)
  const { temperature = 1, top_k = null, top_p = 1 } = rl?.rollout ?? {}
  const greedy = await respond(gpu, rollout, config, {
    step,
    n: 1,
    first_row: 0,
    filter: LIKELIEST,
  })
  const metrics = { [`val-aux/${task.id}/acc/greedy`]: mean(greedy.is_right.map(Number)) }
  const generations = generationsOf(greedy, config, 1, false)
  if (n > 0) {
    const filter = { temperature: validation.temperature ?? temperature, top_k, top_p }
    const sampled = await respond(gpu, rollout, config, { step, n, first_row: prompts, filter })
    Object.assign(
      metrics,
      nameValidationMetrics(processValidationMetrics(samplesOf(sampled, task.id, n))),
      passMetrics(task.id, sampled.is_right.map(Number), n),
    )
    generations.push(...generationsOf(sampled, config, n, true))
  }
  metrics['timing_s/testing'] = (performance.now() - started) / 1000
  return { metrics, generations }
}

/** Scores of the likeliest response to each of the first `validation.prompts` held-out problems,
 * and whether it is right; `n` times each, side by side, for a model that differs by row. */
export const greedyAnswers = (
  gpu: Gpu,
  rollout: Rollout,
  config: TrainerConfig,
  n = 1,
): Promise<Pick<Responses, 'texts' | 'scores' | 'is_right'>> =>
  respond(gpu, rollout, config, { step: 0, n, first_row: 0, filter: LIKELIEST })

/** Responses to all held-out prompts, those to one prompt side by side. */
interface Responses extends Omit<Scored, 'problems'> {
  readonly texts: readonly string[]
  readonly is_ended: readonly boolean[]
}

/** The first `log_val_generations` of `n` responses to each prompt: one to each of the first
 * prompts, so that those of one step and of the next, greedy and sampled, answer the same problems;
 * then a second one to each. */
function generationsOf(
  { scores, texts, is_ended }: Responses,
  { seed, task, validation: { prompts, log_val_generations = 0 } }: TrainerConfig,
  n: number,
  do_sample: boolean,
): Generation[] {
  const count = Math.min(log_val_generations, prompts * n)
  return Array.from({ length: count }, (_, i) => {
    const problem = i % prompts
    const row = problem * n + Math.floor(i / prompts)
    const { prompt: input, ground_truth: gts } = task.sample(seed, problem, 'test')
    const [output, score] = [texts[row], scores[row]]
    return { input, output, gts, score, do_sample, is_ended: is_ended[row] }
  })
}

function samplesOf(
  { scores, is_right, columns, texts }: Responses,
  taskId: string,
  n: number,
): ValidationSamples {
  return {
    data_sources: scores.map(() => taskId),
    sample_uids: scores.map((_, i) => `${Math.floor(i / n)}`),
    variables: {
      ...Object.fromEntries([...columns].map(([name, column]) => [name, column.map(orNothing)])),
      reward: scores,
      acc: is_right.map(Number),
      pred: texts,
    },
  }
}

/** A part that could not be scored counts as 0, as its response does. */
const orNothing = (score: number | undefined) => score ?? 0

/** `n` responses per prompt in batches of the rollout's size; the last one is filled up, and
 * scored when they are all there. */
async function respond(
  gpu: Gpu,
  rollout: Rollout,
  config: TrainerConfig,
  {
    step,
    n,
    first_row,
    filter,
  }: {
    readonly step: number
    readonly n: number
    readonly first_row: number
    readonly filter: Filter
  },
): Promise<Responses> {
  const { seed, task, validation } = config
  const { rows: B, response_length: R, max_turns = 1 } = rollout.size
  const { tokenizer } = task
  const limits = config.phases.filter((phase) => phase.kind === 'rl').at(-1)?.rollout
  const setting =
    limits && max_turns > 1
      ? conversationSetting(config, { ...limits, max_response_length: R })
      : undefined
  const total = validationPrompts(validation, task) * n
  const asked: Sample[] = []
  const texts: string[] = []
  const answers: string[] = []
  const ended: boolean[] = []
  const written: Written[] = []
  for (let first = 0; first < total; first += B) {
    const samples = Array.from({ length: B }, (_, b) =>
      task.sample(seed, Math.floor((first + b) / n), 'test'),
    )
    const sampling = {
      ...filter,
      seed,
      stream: VALIDATION_STREAM,
      step,
      row_offset: first_row + first,
    }
    const { eos_token_ids } = tokenizer
    const prompts = promptBatch(samples, task)
    const request = { prompts, sampling, samples, setting, eos_token_ids }
    const { response_ids, turns } = await readResponses(gpu, rollout, request)
    for (let b = 0; b < Math.min(B, total - first); b++) {
      const response = response_ids.subarray(b * R, (b + 1) * R)
      const text = setting
        ? setting.format.text([...response.subarray(0, turns?.response_lengths[b])])
        : tokenizer.decode(response)
      asked.push(samples[b])
      texts.push(text)
      answers.push(setting ? setting.format.answer(text) : text)
      const end = response.findIndex((id) => eos_token_ids.includes(id)) + 1
      const length = turns?.response_lengths[b] ?? (end || R)
      written.push({ ids: response.slice(0, length), num_turns: turns?.num_turns[b] })
      ended.push(turns ? turns.is_ended[b] : end > 0)
    }
  }
  const scored = await scoreTexts(config, asked, answers, ended, written)
  return { texts, is_ended: ended, ...scored }
}
