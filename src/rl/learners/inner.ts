// Trains inner policies that learn beside the one that a phase of reinforcement trains: by its
// objective, or from what the final policy of the same pass says.
import type { LiveValues, Recorder } from '../../kernels/device/base/program.ts'
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import { POLICY_LOSS_SUMS } from '../../kernels/policy_loss/policy_loss_frame.ts'
import { teacher_loss } from '../../kernels/teacher/teacher.ts'
import { CHUNK } from '../../model/layout/flat_params.ts'
import { addPolicyGradient } from '../../model/transformer/backward.ts'
import { finalNorm, readPolicy } from '../../model/transformer/policy.ts'
import {
  addTaught,
  readStudent,
  sliceTeacher,
  type TeacherPass,
} from '../../model/transformer/teacher.ts'
import { forward } from '../../model/transformer/transformer.ts'
import type { Workspace } from '../../model/transformer/workspace.ts'
import { type Inner, type InnerStudent, innerStudents, TOKEN_WEIGHTS } from '../config/inner.ts'
import type { ActorTensors } from './actor_tensors.ts'
import type { InnerTensors } from './inner_tensors.ts'
import { type Objective, recordObjective } from './objective.ts'
import { loadRows, type ScoreLive, storeRows, tokens, type UpdateLive } from './programs.ts'

/** Whose turn it is: a workspace whose response is that policy's own. */
function innerWorkspace(alloc: Allocator, { response }: InnerTensors, ws: Workspace): Workspace {
  const { rows, response_length } = ws
  const own = Object.entries(response).map(([name, tensor]) => [
    name,
    tensor.shape[0] === rows
      ? tensor
      : alloc.view(tensor, tensor.label, 0, [rows, response_length]),
  ])
  return { ...ws, response: { ...ws.response, ...Object.fromEntries(own) } }
}

const inv_temperature = (live: LiveValues<ScoreLive>) => live.inv_temperature
const inverse = (live: LiveValues<UpdateLive>) => live.inv_temperature

/** Keeps the log-probs of the batch under every inner policy as those of its old one. */
export function recordInnerOld(
  r: Recorder<ScoreLive>,
  t: ActorTensors,
  { ws, alloc }: { readonly ws: Workspace; readonly alloc: Allocator },
  inner: Inner,
): void {
  const { response, old } = innerOf(t)
  const own = innerWorkspace(alloc, { ...innerOf(t), response }, ws)
  const students = innerStudents(inner)
  loadRows(r, t.batch, ws)
  const layers = Math.max(...students.map(({ layer }) => layer))
  forward(r, t.model, ws, { layers, count: tokens })
  for (const [i, { layer, readout }] of students.entries()) {
    readPolicy(r, t.model, own, { layer, readout, inv_temperature, count: tokens })
    storeRows(r, own.response.log_probs, old[i])
  }
}

/** What the backward pass of an update calls at every layer, so that inner policies learn along.
 * After recordObjective. */
export function recordAlong(
  r: Recorder<UpdateLive>,
  t: ActorTensors,
  place: { readonly ws: Workspace; readonly alloc: Allocator },
  objective: Objective,
  inner: Inner,
): (layer: number) => void {
  const learn =
    inner.objective === 'self_distill'
      ? distilling(r, t, place, inner)
      : supervising(r, t, place, objective)
  const students = innerStudents(inner)
  return (layer) => {
    const i = students.findIndex((student) => student.layer === layer)
    if (i >= 0) learn(students[i], i)
  }
}

type Learn = (student: InnerStudent, slot: number) => void

/** The final policy, which the update has just read, teaches. */
function distilling(
  r: Recorder<UpdateLive>,
  t: ActorTensors,
  { ws, alloc }: { readonly ws: Workspace; readonly alloc: Allocator },
  { beta, token_weight }: Inner,
): Learn {
  const { model, teacher } = t
  if (!teacher) throw new Error('actor: no room was made for a teacher')
  const own = { ...sliceTeacher(alloc, teacher.tensors, ws), teacher_lse: ws.response.lse }
  // A policy read through the norm takes its place in the workspace.
  const normed = { ...ws, normed: own.states, normed_inv_rms: own.states_inv_rms }
  finalNorm(r, model, normed, { layer: model.shape.num_hidden_layers, count: tokens })
  const { loss_weights: base_weights, advantages } = ws.response
  return ({ layer, readout, weight: coef }, slot) => {
    const pass: TeacherPass<UpdateLive> = {
      layer,
      readout,
      teacher: model,
      t: own,
      beta,
      inv_temperature: inverse,
      count: tokens,
    }
    readStudent(r, model, ws, pass)
    r.run(
      teacher_loss,
      {
        tokens: ws.rows * ws.response_length,
        scale: 1,
        coef,
        token_weight: TOKEN_WEIGHTS.indexOf(token_weight),
        slot,
      },
      {
        divergence: own.divergence,
        base_weights,
        advantages,
        token_weights: own.token_weights,
        sums: teacher.sums,
      },
    )
    addTaught(r, model, t.gradients, ws, pass)
  }
}

/** The same objective, without its entropy bonus and KL, of a policy of its own. */
function supervising(
  r: Recorder<UpdateLive>,
  t: ActorTensors,
  { ws, alloc }: { readonly ws: Workspace; readonly alloc: Allocator },
  objective: Objective,
): Learn {
  const tensors = innerOf(t)
  const own = innerWorkspace(alloc, tensors, ws)
  const size = POLICY_LOSS_SUMS.length
  const { correction_sums, model, gradients } = t
  return ({ layer, readout, weight }, slot) => {
    const read = { layer, readout, inv_temperature: inverse, count: tokens }
    readPolicy(r, model, own, read)
    const { old_log_probs } = own.response
    const [rows, R] = old_log_probs.shape
    const fromOffset = ({ row }: { row: number }) => row * R
    r.copy(tensors.old[slot], old_log_probs, { fromOffset, count: rows * R })
    const sums = alloc.view(tensors.sums, `inner_sums.${slot}`, slot * CHUNK, [size])
    const same = { ...objective, kl_loss_type: null, leavesEntropy: true, weight }
    recordObjective(r, same, own.response, { sums, correction_sums })
    addPolicyGradient(r, model, gradients, own, read)
  }
}

function innerOf({ inner }: ActorTensors): InnerTensors {
  if (!inner) throw new Error('actor: no room was made for inner policies')
  return inner
}
