// Takes one supervised step: cross-entropy on the next demonstrations.
import type { SftPhase } from '../config/phase.ts'
import { readNumbers } from './stages/readback.ts'
import type { TakenStep } from './stages/taken_step.ts'
import { rowsOf, type Training, uploadProbe } from './stages/training.ts'

/** Trains the policy on the next demonstrations for one step. */
export function supervisedStep(training: Training, phase: SftPhase, lr: number): TakenStep {
  const { gpu, parts, responder } = training
  const { actor } = parts
  actor.beginStep()
  parts.critic?.beginStep()
  const rows = rowsOf(training, phase)
  const batch = responder.demonstrate(rows.batch)
  actor.upload(batch, rows)
  const probeTokens = uploadProbe(training, batch)
  gpu.stage('sft')
  actor.updateSupervised(batch, rows.micro, phase.optim, phase.grad_clip, lr)
  const reading = readNumbers(training, {
    phase,
    batch,
    rows,
    actorLr: lr,
    probeTokens,
    metrics: {},
  })
  training.seen = { batch, rows: 'demonstrations' }
  return { samples: [], reading }
}
