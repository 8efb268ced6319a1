// One step of a phase that learns from a teacher: the student's own samples or demonstrations, and
// one update by what the teacher says of every token.

import type { DistillPhase } from '../../config/phase.ts'
import { samplingPhase } from '../../config/sampling_phase.ts'
import { uniformOf } from '../../math/shuffle.ts'
import { mean } from '../../math/stats.ts'
import type { Drawn } from '../responses/responder.ts'
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
  const drawn = samples ? await draw(training, phase) : undefined
  const batch = drawn?.batch ?? responder.demonstrate(rows.batch)
  const probe_tokens = uploadProbe(training, batch)
  actor.upload(batch, rows)
  gpu.stage('update_actor')
  actor.updateDistilled(batch, phase, rows.micro, lr)
  const metrics = { 'distillation/on_policy': samples ? 1 : 0, ...(drawn && sampledMetrics(drawn)) }
  const numbers = { phase, batch, rows, actor_lr: lr, probe_tokens, metrics }
  const reading = readNumbers(training, { ...numbers, sampler: drawn?.sampler })
  training.seen = { batch, rows: drawn ? 'responses' : 'demonstrations' }
  if (!drawn) return { samples: [], reading }
  const reported = reportSamples(drawn, new Float64Array(batch.rows))
  return { samples: reported, reading, rollout: batch }
}

/** One response of the policy to each of the next prompts, scored by the task, which trains
 * nothing. */
async function draw({ gpu, config, responder, progress }: Training, phase: DistillPhase) {
  gpu.stage('gen')
  const sampling = samplingPhase(phase, config.task.max_response_length)
  const request = { phase: sampling, step: progress.step, reward: undefined }
  return responder.score(request, await responder.sample(request))
}

const sampledMetrics = ({ batch, task_scores }: Drawn): Record<string, number> => ({
  'task/score/mean': mean(task_scores),
  'response_length/mean': mean([...batch.response_lengths]),
  'response/not_ended_ratio': mean(batch.is_ended.map((is_ended) => (is_ended ? 0 : 1))),
})
