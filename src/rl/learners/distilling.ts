// Records the program of a phase that learns from a teacher: one update of a micro-batch.
import type { LiveValues, Recorder } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { entropy_loss } from '../../kernels/policy_loss/entropy_loss.ts'
import { teacher_loss } from '../../kernels/teacher/teacher.ts'
import type { Model } from '../../model/transformer/model.ts'
import { type PolicyRead, readPolicy } from '../../model/transformer/policy.ts'
import {
  addTaught,
  backwardTaught,
  measureStudent,
  readStudent,
  readTeacher,
  sliceTeacher,
  type TeacherPass,
  type TeacherTensors,
  teacherWorkspace,
} from '../../model/transformer/teacher.ts'
import { forward } from '../../model/transformer/transformer.ts'
import type { Workspace } from '../../model/transformer/workspace.ts'
import type { ActorTensors } from './actor_tensors.ts'
import { findBrokenToken, loadRows, type ScoreLive, storeRows, tokens } from './programs.ts'

export type DistillLive = ScoreLive | 'beta' | 'inv_token_count'
export const DISTILL_LIVE = ['row', 'tokens', 'inv_temperature', 'beta', 'inv_token_count'] as const

/** The policies that learn, the deepest first. */
export type Students = readonly Pick<PolicyRead<never>, 'layer' | 'readout'>[]

/** Forward of the teacher and the student, their divergence over the whole vocabulary, and its
 * gradients. `teacher`: another model, and the workspace of its passes where that is its own;
 * absent = the final policy of the same pass. sums of the teacher [students] += each student's mean
 * divergence. */
export function recordDistill(
  r: Recorder<DistillLive>,
  t: ActorTensors,
  { ws, alloc }: { readonly ws: Workspace; readonly alloc: Allocator },
  teacher: { readonly model: Model; readonly ws?: Workspace | undefined } | undefined,
  [target, ...along]: Students,
): void {
  const { model } = t
  const { tensors, sums } = teacherOf(t)
  const own = sliceTeacher(alloc, tensors, ws)
  const inv_temperature = (live: LiveValues<DistillLive>) => live.inv_temperature
  const passOf = (student: Students[number]): TeacherPass<DistillLive> => ({
    ...student,
    teacher: teacher?.model ?? model,
    t: own,
    inv_temperature,
    beta: (live) => live.beta,
    count: tokens,
  })
  loadRows(r, t.batch, ws)
  const teaching = teacher?.model ?? model
  // Nothing runs backward through another model, so nothing is kept of it.
  const its = teacher ? (teacher.ws ?? { ...ws, halves: undefined }) : ws
  const { num_hidden_layers: layers } = teaching.shape
  forward(r, teaching, its, { layers, count: tokens })
  readTeacher(r, teaching, its, own, { inv_temperature, count: tokens })
  // Where blocks share activations, those of the student's last block must be the newest.
  if (teacher || ws.isRecomputed || ws.halves)
    forward(r, model, ws, { layers: target.layer, count: tokens })
  const pass = passOf(target)
  readPolicy(r, model, ws, pass)
  measureStudent(r, model, ws, pass, ws.response.lse)
  recordLoss(r, ws, own, sums, 0)
  recordEntropy(r, t, ws)
  findBrokenToken(r, t, ws)
  const alongside = (layer: number) => {
    const i = along.findIndex((student) => student.layer === layer)
    if (i < 0) return
    readStudent(r, model, ws, passOf(along[i]))
    recordLoss(r, ws, own, sums, i + 1)
    addTaught(r, model, t.gradients, ws, passOf(along[i]))
  }
  backwardTaught(r, model, t.gradients, ws, { ...pass, along: alongside })
}

/** Log-probs of the sampled tokens under another model. */
export function recordTeacherScore(
  r: Recorder<ScoreLive>,
  t: ActorTensors,
  { ws, alloc }: { readonly ws: Workspace; readonly alloc: Allocator },
): void {
  const { other } = teacherOf(t)
  if (!other) throw new Error('actor: no room was made for another model')
  const { model, log_probs } = other
  const own = teacherWorkspace(alloc, other, ws)
  const { num_hidden_layers: layer } = model.shape
  const inv_temperature = (live: LiveValues<ScoreLive>) => live.inv_temperature
  loadRows(r, t.batch, ws)
  forward(r, model, own, { layers: layer, count: tokens })
  readPolicy(r, model, own, { layer, inv_temperature, count: tokens })
  storeRows(r, own.response.log_probs, log_probs)
}

/** The mean of t.divergence over the tokens of the mini-batch. */
function recordLoss(
  { run }: Pick<Recorder<DistillLive>, 'run'>,
  { rows, response_length, response }: Workspace,
  { divergence, token_weights }: TeacherTensors,
  sums: Tensor,
  slot: number,
): void {
  const { response_mask: base_weights, advantages } = response
  run(
    teacher_loss,
    {
      tokens: rows * response_length,
      scale: (live) => live.inv_token_count,
      coef: 1,
      token_weight: 0,
      slot,
    },
    { divergence, base_weights, advantages, token_weights, sums },
  )
}

/** The entropy of the policy that was read, as a metric alone. */
function recordEntropy(
  { run }: Pick<Recorder<DistillLive>, 'run'>,
  { sums }: Pick<ActorTensors, 'sums'>,
  { rows, response_length, response }: Workspace,
): void {
  const { entropy, response_mask: loss_weights, d_entropy } = response
  const size = { tokens: rows * response_length, entropy_coeff: 0 }
  run(entropy_loss, size, { entropy, loss_weights, d_entropy, sums })
}

function teacherOf({ teacher }: ActorTensors): NonNullable<ActorTensors['teacher']> {
  if (!teacher) throw new Error('actor: no room was made for a teacher')
  return teacher
}
