// Computes, beside the vocabulary head, how far a student's policy is from the teacher's over the
// whole vocabulary, and its gradient. Logits of both are computed tile by tile, so that no [tokens,
// V] array exists.
import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import type { DType } from '../device/base/tensor.ts'
import head_hidden from '../vocab_head/head_hidden.wgsl?raw'
import head_tile from '../vocab_head/head_tile.wgsl?raw'
import { functionsOf, renamed } from '../wgsl/compose.ts'
import weight_bf16 from '../wgsl/weight_bf16.wgsl?raw'
import weight_f32 from '../wgsl/weight_f32.wgsl?raw'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import backward_hidden from './teacher_backward_hidden.wgsl?raw'
import backward_weight from './teacher_backward_weight.wgsl?raw'
import divergence from './teacher_divergence.wgsl?raw'
import loss from './teacher_loss.wgsl?raw'
import terms from './teacher_terms.wgsl?raw'

/** Tile of head_tile.wgsl. */
const NARROW = 16

const TEACHER_NAMES = {
  tile_dots: 'teacher_dots',
  narrow_quad: 'teacher_narrow_quad',
  wide_quad: 'teacher_wide_quad',
  hidden_quad: 'teacher_quad',
  quad_columns: 'teacher_columns',
  weight_quad: 'teacher_weight_quad',
  weight_quad_at: 'teacher_weight_quad_at',
  weight_at: 'teacher_weight_at',
  Weight: 'TeacherWeight',
  weight: 'teacher_weight',
  hidden: 'teacher',
  hidden_size: 'teacher_hidden_size',
  vocab_size: 'teacher_vocab_size',
} as const

type HeadType = 'f32' | 'bfloat16'

const weightOf = { f32: weight_f32, bfloat16: weight_bf16 } as const

/** The tiles of both models; the teacher's share the student's workgroup memory. */
const tilesOf = (student: HeadType, teacher: HeadType): string =>
  head_tile +
  head_hidden +
  weightOf[student] +
  renamed(functionsOf(head_tile + head_hidden + weightOf[teacher]), TEACHER_NAMES) +
  terms +
  reduce

const params = {
  /** S: entries of the list. */
  tokens: 'u32',
  /** C of the student. */
  hidden_size: 'u32',
  /** Row of `weight` at which the part ends. */
  vocab_size: 'u32',
  /** Row of `weight` at which it begins. */
  first_row: 'u32',
  teacher_hidden_size: 'u32',
  teacher_vocab_size: 'u32',
  teacher_first_row: 'u32',
  /** Of the part. */
  rows: 'u32',
} as const

const numbers = {
  /** 1 / temperature of both policies. */
  inv_temperature: 'f32',
  /** 0 = forward KL, 1 = reverse KL, else the generalized JSD. */
  beta: 'f32',
} as const

const both = {
  hidden: 'read',
  weight: 'read Weight',
  teacher: 'read',
  teacher_weight: 'read TeacherWeight',
  scored: 'read vec4u',
} as const

const tokenTiles = ({ tokens }: { tokens: number }): [number, number] =>
  foldGrid(Math.ceil(tokens / NARROW))

const cost =
  (products: number) =>
  (p: { tokens: number; hidden_size: number; teacher_hidden_size: number; rows: number }) => ({
    flops: 2 * p.tokens * p.rows * (products * p.hidden_size + p.teacher_hidden_size),
    bytes: 4 * (p.rows + p.tokens) * (p.hidden_size + p.teacher_hidden_size),
  })

/** divergence[slot] = (lse, teacher's lse, mean slope, D) of every token, over one part of the
 * vocabulary; call it for every part, first_id rising from 0. With S and T the policies of student
 * and teacher: D = Σ T (log T - log S) at beta 0, Σ S (log S - log T) at beta 1, else beta KL(T‖M)
 * + (1 - beta) KL(S‖M) with M = (1 - beta) S + beta T.
 *
 * hidden [states, C], weight [rows, C], teacher [states, teacher C], teacher_weight [rows, teacher
 * C], scored as in vocab_head_forward, whose lse [B, R] of both are known → divergence [B · R, 4];
 * 0 where isScored is 0.
 *
 * Source: Agarwal et al., arXiv 2306.13649; TRL GKDTrainer.generalized_jsd_loss. */
const teacher_divergence = defineKernel({
  name: 'teacher_divergence',
  wgsl: divergence + tilesOf('f32', 'f32'),
  params: { ...params, first_id: 'u32', ...numbers },
  bindings: { ...both, lse: 'read', teacher_lse: 'read', divergence: 'read_write vec4f' },
  workgroups: tokenTiles,
  cost: cost(1),
})

/** d_hidden [states, C] of Σ token_weight · D, over one part of the vocabulary; divergence as
 * teacher_divergence left it after the last part. The part at 0 overwrites, later ones add; rows
 * without gradient are left as they are, so the caller clears d_hidden first. Nothing flows into
 * the teacher. */
const teacher_backward_hidden = defineKernel({
  name: 'teacher_backward_hidden',
  wgsl: backward_hidden + tilesOf('f32', 'f32'),
  params: { ...params, first_id: 'u32', ...numbers },
  bindings: { ...both, divergence: 'read vec4f', token_weights: 'read', d_hidden: 'read_write' },
  workgroups: tokenTiles,
  cost: cost(2),
})

/** Rows first_row … first_row + rows - 1 of partials [splits, range_rows, C], whose sum over splits
 * is the gradient of `weight` of Σ token_weight · D. Writes all of those rows. */
const teacher_backward_weight = defineKernel({
  name: 'teacher_backward_weight',
  wgsl: backward_weight + tilesOf('f32', 'f32'),
  params: { ...params, range_rows: 'u32', splits: 'u32', ...numbers },
  bindings: { ...both, divergence: 'read vec4f', token_weights: 'read', partials: 'read_write' },
  workgroups: ({ rows, splits }) => [Math.ceil(rows / NARROW), splits],
  cost: cost(2),
})

/** token_weights = base_weights · scale · coef · w, with w = 1, the advantage or its sign, and
 * sums[slot] += Σ base_weights · scale · w · D; all [tokens], divergence [tokens, 4]. */
export const teacher_loss = defineKernel({
  name: 'teacher_loss',
  wgsl: loss + reduce,
  params: { tokens: 'u32', scale: 'f32', coef: 'f32', token_weight: 'u32', slot: 'u32' },
  bindings: {
    divergence: 'read vec4f',
    base_weights: 'read',
    advantages: 'read',
    token_weights: 'read_write',
    sums: 'read_write',
  },
  workgroups: () => [1],
})

/** The kernels of one pair of heads. */
export interface TeacherKernels {
  readonly divergence: typeof teacher_divergence
  readonly backwardHidden: typeof teacher_backward_hidden
  readonly backwardWeight: typeof teacher_backward_weight
}

const ofTypes = <K extends { readonly name: string; readonly wgsl: string }>(
  kernel: K,
  student: HeadType,
  teacher: HeadType,
): K => ({
  ...kernel,
  name: `${kernel.name}${student === 'f32' ? '' : '_bf16'}${teacher === 'f32' ? '' : '_of_bf16'}`,
  wgsl: kernel.wgsl.replace(tilesOf('f32', 'f32'), () => tilesOf(student, teacher)),
})

const KERNELS = new Map<string, TeacherKernels>()

/** The kernels for heads of these types: of float32, or of bfloat16 numbers, two to a word. */
export function teacherKernels(student: DType, teacher: DType): TeacherKernels {
  const types = [student, teacher].map((dtype) => (dtype === 'bfloat16' ? dtype : 'f32'))
  const [own, other] = types as HeadType[]
  const key = types.join('/')
  const made = KERNELS.get(key) ?? {
    divergence: ofTypes(teacher_divergence, own, other),
    backwardHidden: ofTypes(teacher_backward_hidden, own, other),
    backwardWeight: ofTypes(teacher_backward_weight, own, other),
  }
  KERNELS.set(key, made)
  return made
}

/** Instances for the checks that every kernel passes. */
export const variants = (['f32', 'bfloat16'] as const).flatMap((student) =>
  (['f32', 'bfloat16'] as const).flatMap((teacher) =>
    Object.values(teacherKernels(student, teacher)),
  ),
)
