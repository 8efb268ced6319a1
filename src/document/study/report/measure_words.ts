// Names measures for a report and its pictures.

/** Accuracies, the largest pass@k and the entropy of the policy. */
export const BESIDE =
  /(acc\/greedy|acc\/mean@\d+|pass@\d+\/mean|actor\/entropy|critic\/score\/mean)$/

/** `val-core/sort_digits/acc/mean@4` as `acc/mean@4`. */
export const shortMetric = (name: string): string => BESIDE.exec(name)?.[1] ?? name

/** What a measure is called in a sentence: 'acc/mean@4 on held-out problems'. */
export const measureWords = (metric: string): string =>
  `${shortMetric(metric)}${metric.startsWith('val-') ? ' on held-out problems' : ''}`
