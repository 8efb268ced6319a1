// Names how a figure reads the layers and whose tokens it is of: the same words in every figure.
import type { Observation } from '../../host/protocol/observation.ts'

/** How a layer is read. Short: they stand at the ends of lines too. */
export const READ = {
  raw: 'raw state',
  normed: 'normed state',
  tuned: 'tuned lens',
  jacobian: 'Jacobian lens',
  both: 'raw state and normed state',
  final: 'final policy',
  writes: 'raw states and writes',
  feed_forward: 'raw write less the block’s own input',
  changes: 'raw state, or raw write less the block’s own input',
} as const

/** Of reinforcement and of imitation: the metrics of every step. */
export const BATCH = 'response tokens in the training batch'

const TOKENS: Readonly<Record<NonNullable<Observation['rows']>, string>> = {
  responses: BATCH,
  demonstrations: 'demonstrations in the training batch',
  held_out: 'right held-out answers',
}

/** Of a text that is looked at alone. */
export const ONE_HELD_OUT = 'the right answer to one held-out problem'
export const ONE_OF_BATCH = 'one response in a training batch'

/** Of the metrics that a step measures of every layer: `actor/entropy` is of all that was sampled,
 * before the update. */
export const ofProbe = (rows: number): string => `up to ${rows} responses, after the update`

/** Of these tokens; '' where a record does not say whose they are. */
export const tokensOf = (rows: Observation['rows']): string =>
  rows === undefined ? '' : (TOKENS[rows] ?? '')

/** The line below the title of a figure. */
export function reads(how: string, whose: string): string {
  const said = whose === '' ? how : `${how} · ${whose}`
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}`
}
