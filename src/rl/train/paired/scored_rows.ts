// Computes log-probs of the rows of pairs: of the policy as it is, and of the frozen reference,
// which are computed once for each row.
import type { PreferencePhase } from '../../config/phase.ts'
import { policyPhaseOf } from '../../config/preference_policy.ts'
import type { RolloutBatch } from '../../experience/batch.ts'
import type { BatchRows } from '../../learners/base/batch_rows.ts'
import type { ScoredAnswers } from '../../preferences/answers.ts'
import { readsReference } from '../../preferences/settings.ts'
import type { SequenceRow } from '../../reward/pairs.ts'
import type { Training } from '../stages/training.ts'

/** Rows of P + R columns as a batch whose responses are all of the policy's own tokens. */
export function batchOfRows(
  all: readonly SequenceRow[],
  { prompt_length: P, response_length: R }: Pick<RolloutBatch, 'prompt_length' | 'response_length'>,
): RolloutBatch {
  const T = P + R
  const join = (values: (row: SequenceRow) => Uint32Array, columns: number) => {
    const joined = new Uint32Array(all.length * columns)
    all.forEach((row, b) => {
      joined.set(values(row), b * columns)
    })
    return joined
  }
  const response_mask = Float32Array.from(
    join(({ attention_mask }) => attention_mask.subarray(P), R),
  )
  return {
    rows: all.length,
    prompt_length: P,
    response_length: R,
    input_ids: join(({ input_ids }) => input_ids, T),
    attention_mask: join(({ attention_mask }) => attention_mask, T),
    position_ids: join(({ position_ids }) => position_ids, T),
    response_ids: join(({ input_ids }) => input_ids.subarray(P), R),
    response_mask,
    response_lengths: Uint32Array.from(all, (_, b) =>
      response_mask.subarray(b * R, (b + 1) * R).reduce((sum, m) => sum + m, 0),
    ),
    is_ended: all.map(() => true),
  }
}

/** Uploads `rows.batch` rows and reads their log-probs back; the batch stays uploaded. One
 * readback. */
export async function scoreRows(
  training: Training,
  phase: PreferencePhase,
  rows: BatchRows,
  all: readonly SequenceRow[],
): Promise<{ readonly batch: RolloutBatch; readonly answers: ScoredAnswers }> {
  const { gpu, parts, taught } = training
  const { actor } = parts
  const { response_length: R } = actor.size
  const batch = batchOfRows(all, actor.size)
  const policy = policyPhaseOf(phase, R)
  const hasReference = readsReference(phase.preference)
  const isKnown = all.every((row) => taught.reference(row) !== undefined)
  gpu.stage('old_log_prob')
  actor.upload(batch, rows)
  actor.computeLogProbs(policy, rows)
  if (hasReference && !isKnown) {
    gpu.stage('ref')
    actor.computeRefLogProb(policy, rows)
  }
  const { old_log_probs, ref_log_prob, sum_pi_squared } = actor.tensors.batch
  const part = (tensor: typeof old_log_probs, name: string) =>
    gpu.view(tensor, `pairs.${name}`, 0, [all.length, R])
  const [log_probs, reference, sum_p_squared] = await gpu.read(
    part(old_log_probs, 'log_probs'),
    part(ref_log_prob, 'reference'),
    part(sum_pi_squared, 'sum_p_squared'),
  )
  if (hasReference && !isKnown)
    all.forEach((row, b) => {
      taught.keepReference(row, reference.slice(b * R, (b + 1) * R))
    })
  const ref_log_probs = new Float32Array(all.length * R)
  if (hasReference)
    all.forEach((row, b) => {
      ref_log_probs.set(taught.reference(row) ?? [], b * R)
    })
  const answers = {
    rows: all.length,
    columns: R,
    log_probs,
    sum_p_squared,
    completion_mask: batch.response_mask,
    ...(hasReference && { ref_log_probs }),
  }
  return { batch, answers }
}
