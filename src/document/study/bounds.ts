// Says between which values a metric can lie.
import type { Interval } from './statistics/student.ts'

/** Metrics that are shares: of answers, prompts or tokens. */
const SHARE = /(^|\/)(acc|pass@\d+)(\/|$)|accuracy$|clipfrac|^group\/informative/
/** Metrics that are never below 0. */
const NEVER_NEGATIVE = /entropy|teacher_kl|grad_norm|length/

/** Between which values a metric lies, whatever is measured; an interval of it ends there. */
export const boundsOf = (metric: string): Interval => ({
  low: SHARE.test(metric) || NEVER_NEGATIVE.test(metric) ? 0 : Number.NEGATIVE_INFINITY,
  high: SHARE.test(metric) ? 1 : Number.POSITIVE_INFINITY,
})
