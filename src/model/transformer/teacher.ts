// Compares a teacher's policy with the student's over the whole vocabulary: how far they are apart,
// and what that makes of the student's gradients.
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import { teacherKernels } from '../../kernels/teacher/teacher.ts'
import type { ParamLayout } from '../layout/params.ts'
import { readsNormed } from '../layout/readout.ts'
import type { RowRange } from '../params/param_buffers.ts'
import type { ParamGradients } from '../params/param_tensors.ts'
import { addStatesGradient, backwardStates } from './backward.ts'
import { backwardScratch } from './block_backward.ts'
import { createModel, type Model } from './model.ts'
import { type PolicyRead, type PolicyTensors, readPolicy, scoredResponse } from './policy.ts'
import { createWorkspace, sliceWorkspace, type Workspace } from './workspace.ts'

/** What is kept of a teacher for a micro-batch, and what measuring a student by it needs. */
export interface TeacherTensors {
  /** What the teacher's head reads, [M, C]: its states behind its final norm. */
  readonly states: Tensor
  readonly states_inv_rms: Tensor
  /** Of the teacher, [rows, R]. */
  readonly teacher_lse: Tensor
  /** The policy of a layer that is taught along, [rows, R] each. */
  readonly student: Omit<PolicyTensors, 'running'>
  /** [rows, R · 4] (kernels/teacher). */
  readonly divergence: Tensor
  /** The loss by each token's divergence, [rows, R]. */
  readonly token_weights: Tensor
}

/** Room for `rows` rows of R response tokens, as in the workspace of the student; `hidden_size`:
 * the widest states of any teacher. */
export function createTeacher(
  alloc: Allocator,
  { rows, width, response_length: R }: Workspace,
  hiddenSize: number,
): TeacherTensors {
  const f32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`teacher.${label}`, 'f32', dims, { kind: 'activations' })
  const M = rows * width
  const student = (label: string) => f32(`student_${label}`, rows, R)
  return {
    states: f32('states', M, hiddenSize),
    states_inv_rms: f32('states_inv_rms', M),
    teacher_lse: f32('lse', rows, R),
    student: {
      log_probs: student('log_probs'),
      entropy: student('entropy'),
      lse: student('lse'),
      sum_pi_squared: student('sum_pi_squared'),
    },
    divergence: f32('divergence', rows, 4 * R),
    token_weights: f32('token_weights', rows, R),
  }
}

/** The first `rows` rows of all of it. */
export function sliceTeacher(
  alloc: Allocator,
  t: TeacherTensors,
  { rows, width }: Workspace,
): TeacherTensors {
  const cut = (tensor: Tensor, first = rows) =>
    tensor.shape[0] === first
      ? tensor
      : alloc.view(tensor, tensor.label, 0, [first, ...tensor.shape.slice(1)])
  const { log_probs, entropy, lse, sum_pi_squared } = t.student
  return {
    states: cut(t.states, rows * width),
    states_inv_rms: cut(t.states_inv_rms, rows * width),
    teacher_lse: cut(t.teacher_lse),
    student: {
      log_probs: cut(log_probs),
      entropy: cut(entropy),
      lse: cut(lse),
      sum_pi_squared: cut(sum_pi_squared),
    },
    divergence: cut(t.divergence),
    token_weights: cut(t.token_weights),
  }
}

/** A teacher of its own weights, with room for its passes. */
export interface OtherTeacher {
  readonly model: Model
  readonly workspace: Workspace
}

/** Room for a model of any sizes that teaches the rows of `student`. */
export function createOtherTeacher(
  alloc: Allocator,
  layout: ParamLayout,
  { rows, width, response_length }: Workspace,
  kernels: Pick<Model, 'matmul' | 'fusion'> = {},
): OtherTeacher {
  const size = { rows, width, response_length, trains: false }
  return {
    model: createModel(alloc, layout, 'none', kernels),
    workspace: createWorkspace(alloc, layout.shape, size),
  }
}

/** The workspace of a teacher for the rows that `student` has loaded. */
export function teacherWorkspace(
  alloc: Allocator,
  { workspace }: OtherTeacher,
  student: Workspace,
): Workspace {
  const own = sliceWorkspace(alloc, workspace, student.rows)
  const { input_ids, attention_mask, position_ids, cu_seqlens, response } = student
  const rows = { input_ids, attention_mask, position_ids, cu_seqlens }
  return { ...own, ...rows, response: { ...response, running: own.response.running } }
}

/** Reads the final policy of `teacher`, whose forward pass has just run in `ws`, into `t`. */
export function readTeacher<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  teacher: Model,
  ws: Workspace,
  t: TeacherTensors,
  read: Pick<PolicyRead<L>, 'inv_temperature' | 'count'>,
): void {
  const own = { ...ws, normed: t.states, normed_inv_rms: t.states_inv_rms }
  const layer = teacher.shape.num_hidden_layers
  readPolicy(recorder, teacher, own, { ...read, layer }, { lse: t.teacher_lse })
}

/** A student, the teacher's head, and how both are compared. */
export interface TeacherPass<L extends string> extends PolicyRead<L> {
  readonly teacher: Pick<Model, 'weights' | 'shape'>
  readonly t: TeacherTensors
  readonly beta: Value<L>
  /** In a backward pass: adds what layers below are taught, each when its turn comes. */
  readonly along?: (layer: number) => void
}

/** Rows of the vocabulary that lie in one range of both heads. */
interface Part {
  /** Of the student's head. */
  readonly range: number
  readonly weight: Tensor
  readonly teacher_weight: Tensor
  readonly size: {
    readonly first_row: number
    readonly vocab_size: number
    readonly teacher_first_row: number
    readonly teacher_vocab_size: number
    readonly rows: number
  }
  readonly first_id: number
}

function partsOf(own: readonly RowRange[], other: readonly RowRange[]): Part[] {
  const endOf = ({ first, tensor }: RowRange) => first + tensor.shape[0]
  return own.flatMap((mine, range) =>
    other.flatMap((its): Part[] => {
      const first_id = Math.max(mine.first, its.first)
      const rows = Math.min(endOf(mine), endOf(its)) - first_id
      if (rows <= 0) return []
      const [first_row, teacher_first_row] = [first_id - mine.first, first_id - its.first]
      const size = {
        first_row,
        vocab_size: first_row + rows,
        teacher_first_row,
        teacher_vocab_size: teacher_first_row + rows,
        rows,
      }
      return [{ range, weight: mine.tensor, teacher_weight: its.tensor, size, first_id }]
    }),
  )
}

/** The parts of the vocabulary, with what every kernel is given of them. */
function comparedParts<L extends string>(
  model: Model,
  ws: Workspace,
  { teacher, t, beta, inv_temperature }: TeacherPass<L>,
  hidden: Tensor,
) {
  const { tokens, scored } = scoredResponse(ws)
  return partsOf(model.weights.lm_head, teacher.weights.lm_head).map((part) => ({
    ...part,
    kernels: teacherKernels(part.weight.dtype, part.teacher_weight.dtype),
    params: {
      tokens,
      hidden_size: model.shape.hidden_size,
      teacher_hidden_size: teacher.shape.hidden_size,
      ...part.size,
      inv_temperature,
      beta,
    },
    heads: {
      hidden,
      weight: part.weight,
      teacher: t.states,
      teacher_weight: part.teacher_weight,
      scored,
    },
  }))
}

const statesOf = <L extends string>(model: Model, ws: Workspace, read: TeacherPass<L>): Tensor =>
  readsNormed(model.shape, read.layer, read.readout ?? 'raw') ? ws.normed : ws.hidden[read.layer]

/** Fills t.divergence for the policy of `pass`, which was read with this log-sum-exp. */
export function measureStudent<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  pass: TeacherPass<L>,
  lse: Tensor,
): void {
  const { divergence, teacher_lse } = pass.t
  for (const { kernels, params, heads, first_id } of comparedParts(
    model,
    ws,
    pass,
    statesOf(model, ws, pass),
  ))
    run(kernels.divergence, { ...params, first_id }, { ...heads, lse, teacher_lse, divergence })
}

/** Gradient of Σ token_weight · divergence by what the student's head read, into `d_hidden`, which
 * was cleared, and by the head. */
function taughtHeadGrad<L extends string>(
  run: Recorder<L>['run'],
  model: Model,
  ws: Workspace,
  pass: TeacherPass<L>,
  { grads, d_hidden }: { readonly grads: ParamGradients; readonly d_hidden: Tensor },
): void {
  const { divergence, token_weights } = pass.t
  const { head_partials: partials } = backwardScratch(ws)
  const { headSplits: splits } = ws
  const parts = comparedParts(model, ws, pass, statesOf(model, ws, pass))
  const found = { divergence, token_weights }
  for (const { kernels, params, heads, first_id } of parts)
    run(kernels.backwardHidden, { ...params, first_id }, { ...heads, ...found, d_hidden })
  grads.lm_head?.forEach(({ tensor: out }, range) => {
    const [range_rows, hiddenSize] = out.shape
    for (const { kernels, params, heads } of parts.filter((part) => part.range === range))
      run(
        kernels.backwardWeight,
        { ...params, range_rows, splits },
        { ...heads, ...found, partials },
      )
    const sums = { rows: splits, cols: range_rows * hiddenSize }
    run(reduceRows(splits), sums, { x: partials, out })
  })
}

/** Gradient of Σ token_weight · divergence by everything that the policy of `pass` used, as
 * `backward` has it of log-probs. */
export function backwardTaught<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  pass: TeacherPass<L>,
): void {
  const { d_hidden, d_normed } = backwardScratch(ws)
  const { layer, readout = 'raw' } = pass
  const dRead = readsNormed(model.shape, layer, readout) ? d_normed : d_hidden
  recorder.clear(dRead)
  taughtHeadGrad(recorder.run, model, ws, pass, { grads, d_hidden: dRead })
  backwardStates(recorder, model, grads, ws, pass)
}

/** Reads the policy of an inner layer into t.student and measures it. Between two blocks of a
 * backward pass, whose scratch it uses. */
export function readStudent<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  pass: TeacherPass<L>,
): void {
  readPolicy(recorder, model, ws, pass, pass.t.student)
  measureStudent(recorder, model, ws, pass, pass.t.student.lse)
}

/** Adds the gradient of a policy that readStudent has measured to what flows back through its
 * layer. */
export function addTaught<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  pass: TeacherPass<L>,
): void {
  const { d_normed } = backwardScratch(ws)
  recorder.clear(d_normed)
  taughtHeadGrad(recorder.run, model, ws, pass, { grads, d_hidden: d_normed })
  addStatesGradient(recorder, model, grads, ws, pass)
}
