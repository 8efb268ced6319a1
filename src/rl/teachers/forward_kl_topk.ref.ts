// Computes verl's forward KL on the teacher's k likeliest tokens, the student's log-probs
// normalised over the whole vocabulary.
import { aggregationWeights } from '../../kernels/policy_loss/loss_weights.ref.ts'
import type { Aggregation } from '../../kernels/policy_loss/loss_weights.ts'
import {
  gradientByLogits,
  type Logits,
  logProbsOf,
  type Numbers,
  tokenMean,
} from './distribution.ref.ts'
import { topIds } from './jsd_topk.ref.ts'

export interface TopkTeacher {
  /** k */
  readonly topk: number
  /** [N, k] */
  readonly log_probs: Numbers
  readonly ids: Numbers
}

export interface ForwardKlTopk {
  readonly log_prob_min_clamp: number | undefined
  readonly loss_max_clamp: number | undefined
  readonly aggregation: Aggregation
}

/** [N] each but the gradient [N, V]; 0 where masked. */
export interface ForwardKlTopkLoss {
  readonly loss: number
  readonly d_logits: Float64Array
  readonly token_losses: Float64Array
  readonly student_mass: Float64Array
  readonly teacher_mass: Float64Array
  readonly overlap_count: Float64Array
  readonly metrics: Record<string, number>
}

/** One token: Σ over the teacher's ids of T (log T - log S), both log-probs raised to a floor.
 * Masses are of unraised ones. */
function tokenOf(student: Logits, teacher: TopkTeacher, floor: number, i: number) {
  const { topk: k } = teacher
  const logProbs = logProbsOf(student, i)
  const likeliest = topIds(logProbs, k)
  const d_log_probs = new Float64Array(logProbs.length)
  const found = { loss: 0, student_mass: 0, teacher_mass: 0, overlap: 0, advantage: 0 }
  for (let j = i * k; j < (i + 1) * k; j++) {
    const id = teacher.ids[j]
    const [s, t] = [Math.max(logProbs[id], floor), Math.max(teacher.log_probs[j], floor)]
    const kl = Math.exp(t) * (t - s)
    found.loss += kl
    found.student_mass += Math.exp(logProbs[id])
    found.teacher_mass += Math.exp(teacher.log_probs[j])
    if (logProbs[id] >= floor) d_log_probs[id] -= Math.exp(t)
    if (!likeliest.includes(id)) continue
    found.overlap++
    found.advantage -= kl
  }
  const advantage = found.overlap > 0 ? found.advantage / found.overlap : 0
  return { ...found, advantage, d_logits: gradientByLogits(logProbs, d_log_probs) }
}

/** verl's compute_forward_kl_topk with its means: no token counts for less than 0, nor for more
 * than the clamp. */
export function forwardKlTopkLoss(
  student: Logits,
  teacher: TopkTeacher,
  mask: { readonly data: Numbers; readonly columns: number },
  config: ForwardKlTopk,
): ForwardKlTopkLoss {
  const { data } = mask
  const V = student.vocabulary
  const floor = config.log_prob_min_clamp ?? Number.NEGATIVE_INFINITY
  const most = config.loss_max_clamp ?? Number.POSITIVE_INFINITY
  const weights = aggregationWeights(data, mask.columns, config.aggregation)
  const N = data.length
  const columns = Array.from({ length: 6 }, () => new Float64Array(N))
  const [token_losses, student_mass, teacher_mass, overlap_count, advantage, positive] = columns
  const d_logits = new Float64Array(student.data.length)
  let loss = 0
  for (let i = 0; i < N; i++) {
    if (data[i] === 0) continue
    const token = tokenOf(student, teacher, floor, i)
    token_losses[i] = token.loss
    student_mass[i] = token.student_mass
    teacher_mass[i] = token.teacher_mass
    overlap_count[i] = token.overlap
    advantage[i] = token.advantage
    positive[i] = Math.max(token.loss, 0)
    loss += weights[i] * Math.min(positive[i], most)
    if (token.loss > 0 && token.loss <= most)
      for (let v = 0; v < V; v++) d_logits[i * V + v] = weights[i] * token.d_logits[v]
  }
  const counted = (x: Float64Array) => Array.from(x).filter((_, i) => data[i] !== 0)
  const spread = (name: string, x: Float64Array): Record<string, number> => ({
    [`distillation/${name}_min`]: Math.min(...counted(x)),
    [`distillation/${name}_max`]: Math.max(...counted(x)),
  })
  return {
    loss,
    d_logits,
    token_losses,
    student_mass,
    teacher_mass,
    overlap_count,
    metrics: {
      'distillation/student_mass': tokenMean(student_mass, data),
      ...spread('student_mass', student_mass),
      'distillation/teacher_mass': tokenMean(teacher_mass, data),
      ...spread('teacher_mass', teacher_mass),
      'distillation/overlap_ratio': tokenMean(overlap_count, data) / teacher.topk,
      'distillation/overlap_token_advantage': tokenMean(advantage, overlap_count.map(Math.sign)),
      ...spread('loss', positive),
      'distillation/loss': loss,
    },
  }
}
