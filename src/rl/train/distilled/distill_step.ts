// Takes one step of a phase that learns from a teacher: the student's own samples, demonstrations
// or what the teacher writes, and one update by what the teacher says of every token.

import { type OtherWeights, writerOf } from '../../config/distillation.ts'
import type { DistillPhase } from '../../config/phase.ts'
import { samplingPhase } from '../../config/sampling_phase.ts'
import { uniformOf } from '../../math/shuffle.ts'
import { mean } from '../../math/stats.ts'
import type { Drawn } from '../responses/responder.ts'
import { fitLens } from '../stages/fit_lens.ts'
import { readNumbers } from '../stages/readback.ts'
import { reportSamples } from '../stages/reported_samples.ts'
import type { TakenStep } from '../stages/taken_step.ts'
import { rowsOf, type Training, uploadProbe } from '../stages/training.ts'

/** Trains the policy on the next responses for one step. */
export async function distillStep(
  training: Training,
  phase: DistillPhase,
  lr: number,
): Promise<TakenStep> {
  const { gpu, parts, responder, progress, config } = training
  const { actor } = parts
  const rows = rowsOf(training, phase)
  actor.beginStep()
  parts.critic?.beginStep()
  const samples = uniformOf(config.seed, progress.step) < phase.distillation.lmbda
  const writer = samples ? undefined : writerOf(phase.distillation)
  const drawn = samples || writer ? await draw(training, phase, writer) : undefined
  const batch = drawn?.batch ?? responder.demonstrate(rows.batch)
  const prompts = { prompts: batch.rows, promptOf: (row: number) => row }
  const lens = await fitLens(training, phase, batch, prompts)
  const probeTokens = uploadProbe(training, batch)
  actor.upload(batch, rows)
  gpu.stage('update_actor')
  actor.updateDistilled(batch, phase, { micro: rows.micro, lr, others: !samples })
  const metrics = {
    'distillation/on_policy': samples ? 1 : 0,
    ...lens,
    ...(drawn && (samples ? sampledMetrics(drawn) : writtenMetrics(drawn))),
  }
  const numbers = { phase, batch, rows, actorLr: lr, probeTokens, metrics }
  // Entropies of a teacher's rollout are not the policy's.
  const reading = readNumbers(training, {
    ...numbers,
    sampler: samples ? drawn?.sampler : undefined,
  })
  training.seen = { batch, rows: samples ? 'responses' : 'demonstrations' }
  if (!drawn || !samples) return { samples: [], reading }
  const reported = reportSamples(drawn, new Float64Array(batch.rows))
  return { samples: reported, reading, rollout: batch }
}

/** One response of the policy, or of its teacher, to each of the next prompts, scored by the task,
 * which trains nothing. */
async function draw(
  { gpu, config, responder, progress }: Training,
  phase: DistillPhase,
  writer: OtherWeights | undefined,
) {
  gpu.stage('gen')
  const sampling = samplingPhase(phase, config.task.max_response_length)
  const request = { phase: sampling, step: progress.step, reward: undefined, writer }
  return responder.score(request, await responder.sample(request))
}

const sampledMetrics = ({ batch, taskScores }: Drawn): Record<string, number> => ({
  'task/score/mean': mean(taskScores),
  'response_length/mean': mean([...batch.response_lengths]),
  'response/not_ended_ratio': mean(batch.is_ended.map((isEnded) => (isEnded ? 0 : 1))),
})

/** Of a teacher's responses: how right they are. */
const writtenMetrics = ({ taskScores }: Drawn): Record<string, number> => ({
  'distillation/teacher_score': mean(taskScores),
})
