// Describes the numbers that a step computes for every token: what each is called, what it means,
// and how it is written.
import { type AdvantageNoise, withoutNoise } from '../../../document/formulas/advantage_noise.ts'
import type { TracedSample } from '../../../host/protocol/results.ts'
import { NONE, withMinus } from '../../kit/format.ts'

/** `moved`: what the step did to a token's log-prob. */
export type ColumnName = keyof TracedSample['columns'] | 'moved'

export interface Column {
  readonly name: ColumnName
  readonly label: string
  /** One sentence, shown under the pointer. */
  readonly help: string
  /** Of STAGES, from 0. */
  readonly stage: number
  /** Left out unless the step has it. */
  readonly isRare?: boolean
}

/** A label with the unit that its help says. */
export const headText = ({ label, help }: Column): string =>
  /\bnats\b/.test(help) ? `${label}, nats` : label

/** In the order in which a step computes them. */
export const COLUMNS: readonly Column[] = [
  {
    name: 'token_level_scores',
    label: 'token score',
    help: 'What the task or the reward model says of the whole response, placed at its last token; 0 at the tokens before it.',
    stage: 1,
  },
  {
    name: 'old_log_probs',
    label: 'old log-prob',
    help: 'log π_old: how likely the policy found the token before this step’s updates, in nats.',
    stage: 2,
  },
  {
    name: 'ref_log_prob',
    label: 'ref log-prob',
    help: 'log π_ref: how likely the frozen reference finds the token, in nats.',
    stage: 2,
  },
  {
    name: 'values',
    label: 'value',
    help: 'V: what the critic expects from this token on.',
    stage: 2,
  },
  {
    name: 'rollout_is_weights',
    label: 'weight',
    help: 'w: the importance weight of rollout correction.',
    stage: 2,
    isRare: true,
  },
  {
    name: 'response_mask',
    label: 'kept',
    help: '0 where rollout correction rejected the token.',
    stage: 2,
    isRare: true,
  },
  {
    name: 'reward_kl',
    label: 'KL, reward',
    help: 'The estimate of KL to the reference that is taken off the reward, in nats.',
    stage: 3,
  },
  {
    name: 'token_level_rewards',
    label: 'reward',
    help: 'The score minus β times the KL in the reward.',
    stage: 3,
  },
  {
    name: 'advantages',
    label: 'advantage',
    help: 'A: how much better than expected the token turned out.',
    stage: 4,
  },
  {
    name: 'returns',
    label: 'return',
    help: 'The rewards that followed from this token on.',
    stage: 4,
  },
  {
    name: 'log_probs',
    label: 'log-prob',
    help: 'log π as the last optimizer step that saw this response found it, before it changed anything, in nats.',
    stage: 5,
  },
  {
    name: 'ratio',
    label: 'ratio',
    help: 'It is 1 where nothing moved yet: exp(log π − log π_old).',
    stage: 5,
  },
  {
    name: 'clipped',
    label: 'clipped',
    help: 'Whether the clip of the loss is active at this token.',
    stage: 5,
  },
  {
    name: 'chosen',
    label: 'chosen',
    help: 'Whether the loss chose this token by the covariance of advantage and log-prob: clip_cov gives it no loss, kl_cov a penalty.',
    stage: 5,
    isRare: true,
  },
  {
    name: 'kld',
    label: 'KL, loss',
    help: 'The estimate of KL to the reference that is a term of the loss, in nats.',
    stage: 5,
  },
  {
    name: 'entropy',
    label: 'entropy',
    help: 'H: of the policy at this token when the update saw it, in nats.',
    stage: 5,
  },
  {
    name: 'log_probs_after',
    label: 'log-prob after',
    help: 'The token scored once more, after all updates of this step, in nats.',
    stage: 6,
  },
  {
    name: 'moved',
    label: 'change',
    help: 'log-prob after minus old log-prob, in nats: what this step did to the token.',
    stage: 6,
  },
]

/** The columns that a sample is shown with: rare ones where they say something. */
export function shownColumns({ columns }: TracedSample): readonly Column[] {
  return COLUMNS.filter(({ name, isRare }) => {
    if (!isRare) return true
    if (name === 'response_mask') return columns.response_mask?.includes(0) ?? false
    return name in columns
  })
}

/** Whether a token of a response has a number there: a column of dashes says nothing. */
export const isFilled = (sample: TracedSample, { name }: Pick<Column, 'name'>): boolean =>
  sample.tokens.some((_, t) => cellValue(sample, name, t) !== undefined)

/** The first of these columns that a stage computes; undefined where it computes none. */
export function columnOf(
  columns: readonly Column[],
  stage: number | undefined,
): number | undefined {
  const at = columns.findIndex((column) => column.stage === stage)
  return at < 0 ? undefined : at
}

/** A number of the table; undefined where this step has none. */
export function cellValue(
  { columns }: TracedSample,
  name: ColumnName,
  t: number,
): number | undefined {
  if (name === 'moved') {
    const [before, after] = [columns.old_log_probs?.[t], columns.log_probs_after?.[t]]
    return before === undefined || after === undefined ? undefined : after - before
  }
  const value = columns[name]?.[t]
  return Number.isNaN(value) ? undefined : value
}

const CLIPPED = ['no', 'yes', 'yes, low'] as const

/** Four decimals, so that a column lines up; whole numbers without any. */
export function shortNumber(value: number): string {
  if (Number.isInteger(value)) return withMinus(`${value}`)
  const size = Math.abs(value)
  return withMinus(size < 1e-3 || size >= 1e5 ? value.toExponential(1) : value.toFixed(4))
}

/** A cell as the table shows it; `noise`, of the advantages of its step. */
export function cellText(
  sample: TracedSample,
  name: ColumnName,
  t: number,
  noise: AdvantageNoise,
): string {
  const value = cellValue(sample, name, t)
  if (value === undefined) return NONE
  if (name === 'chosen') return value === 1 ? 'yes' : 'no'
  if (name === 'clipped') return CLIPPED[value] ?? NONE
  return shortNumber(name === 'advantages' ? withoutNoise(value, noise) : value)
}

/** A cell as the sentence below the table says it; undefined where this step has none
 * (why_missing.ts). */
export const saidText = (
  sample: TracedSample,
  name: ColumnName,
  t: number,
  noise: AdvantageNoise,
): string | undefined =>
  name === 'chosen' || name === 'clipped' || cellValue(sample, name, t) === undefined
    ? exactText(sample, name, t)
    : cellText(sample, name, t, noise)

/** A cell with every digit, for who points at it; undefined where this step has none. */
export function exactText(sample: TracedSample, name: ColumnName, t: number): string | undefined {
  const value = cellValue(sample, name, t)
  if (value === undefined) return undefined
  if (name === 'chosen') return value === 1 ? 'chosen by its covariance' : 'not chosen'
  if (name !== 'clipped') return withMinus(`${value}`)
  return ['not clipped', 'clipped', 'held by the clip on bad responses'][value] ?? NONE
}
