// Says why a number of the token table is not there: a step computes what its phase needs, and
// nothing else.
import { estimatorLabel } from '../../../document/experiment/fields/phase_fields.ts'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { type Column, type ColumnName, cellValue, isFilled } from '../base/columns.ts'

/** What is known once a token has had its part in an update. */
const OF_UPDATE: readonly ColumnName[] = [
  'log_probs',
  'ratio',
  'clipped',
  'chosen',
  'entropy',
  'kld',
  'log_probs_after',
  'moved',
]

/** Of the columns that a phase does without; undefined for those that any phase has. */
function notInPhase({ phase, loss_mode }: TokenTable, name: ColumnName): string | undefined {
  const { actor, algorithm } = phase
  if (name === 'values')
    return `only GAE has a critic; this phase uses ${estimatorLabel(phase.adv_estimator)}`
  if (name === 'ref_log_prob') return 'no KL in reward or loss, so no reference is asked'
  if (name === 'reward_kl' && !algorithm.use_kl_in_reward) return 'no KL in the reward'
  if (name === 'kld' && !actor.use_kl_loss) return 'no KL in the loss'
  if (name === 'clipped') return `the loss ${loss_mode} clips no ratio`
  return undefined
}

/** Why there is no number of that name for a token, as the end of a sentence; undefined where there
 * is one. */
export function whyMissing(
  table: TokenTable,
  sample: TracedSample,
  name: ColumnName,
  t: number,
): string | undefined {
  if (cellValue(sample, name, t) !== undefined) return undefined
  const { columns } = sample
  if (name === 'kld' && !table.phase.actor.use_kl_loss) return notInPhase(table, name)
  if (OF_UPDATE.includes(name) && !columns.log_probs)
    return table.updates === 0
      ? 'only the critic learns in this step'
      : 'all tokens of its mini-batch were rejected'
  if (columns[name as keyof typeof columns]) return 'rollout correction rejected this token'
  return notInPhase(table, name) ?? 'not computed in this step'
}

/** Columns without a number for any token of the response, those of one reason together. */
export function missingColumns(
  table: TokenTable,
  sample: TracedSample,
  columns: readonly Column[],
): readonly { readonly labels: readonly string[]; readonly why: string }[] {
  const found = new Map<string, string[]>()
  for (const { name, label } of columns) {
    if (isFilled(sample, { name })) continue
    const why = whyMissing(table, sample, name, 0)
    if (why !== undefined) found.set(why, [...(found.get(why) ?? []), label])
  }
  return Array.from(found, ([why, labels]) => ({ labels, why }))
}
