// Holds the tokens of one response as the rules of losses read them, in float64.

type Numbers = ArrayLike<number>

/** One response; arrays of R, of which the tokens with mask 0 are left out. */
export interface ResponseTokens {
  readonly log_probs: Numbers
  readonly old_log_probs: Numbers
  readonly advantages: Numbers
  readonly response_mask: Numbers
  readonly rollout_is_weights?: Numbers | undefined
  /** 1 where the loss chose the token over the micro-batch; absent = nowhere. */
  readonly chosen?: Numbers | undefined
}

export const clamp = (x: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, x))

/** log_prob - old_log_prob of a token, nats. */
export const logRatio = ({ log_probs, old_log_probs }: ResponseTokens, t: number): number =>
  log_probs[t] - old_log_probs[t]

/** The log ratio within ±20, where most losses hold it. */
export const heldLogRatio = (row: ResponseTokens, t: number): number =>
  clamp(logRatio(row, t), -20, 20)

/** exp of that. */
export const heldRatio = (row: ResponseTokens, t: number): number => Math.exp(heldLogRatio(row, t))

/** Whether that clamp is active, so that no gradient flows through the ratio. */
export const isHeld = (row: ResponseTokens, t: number): boolean => Math.abs(logRatio(row, t)) > 20

/** Whether the loss chose the token over the micro-batch. */
export const isChosen = ({ chosen }: ResponseTokens, t: number): boolean => chosen?.[t] === 1

/** Tokens that count. */
export function countedTokens({ response_mask }: ResponseTokens): number {
  let count = 0
  for (let t = 0; t < response_mask.length; t++) if (response_mask[t] !== 0) count++
  return count
}

/** Mean over the tokens that count; 0 without any. */
export function meanOf(row: ResponseTokens, x: (t: number) => number): number {
  let sum = 0
  for (let t = 0; t < row.response_mask.length; t++) if (row.response_mask[t] !== 0) sum += x(t)
  return sum / Math.max(1, countedTokens(row))
}

/** What the formulas of most losses are made of. */
export const tokenValues = (row: ResponseTokens, t: number) => ({
  log_prob: row.log_probs[t],
  old_log_prob: row.old_log_probs[t],
  advantage: row.advantages[t],
  ratio: heldRatio(row, t),
})

/** The mean log ratio of a response's tokens that count. */
export const meanLogRatio = (row: ResponseTokens): number => meanOf(row, (t) => logRatio(row, t))
