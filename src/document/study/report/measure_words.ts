// Names measures for a report and its pictures.

/** Accuracies, the largest pass@k and the entropy of the policy. */
export const BESIDE =
  /(acc\/greedy|acc\/mean@\d+|pass@\d+\/mean|actor\/entropy|critic\/score\/mean)$/

/** `val-core/sort_digits/acc/mean@4` as `acc/mean@4`. */
export const shortMetric = (name: string): string => BESIDE.exec(name)?.[1] ?? name

/** What a person calls a metric, by the end of its name. */
const CALLED: readonly (readonly [RegExp, string])[] = [
  [/^acc\/greedy$/, 'held-out accuracy (greedy)'],
  [/^acc\/mean@1$/, 'held-out accuracy (one sample)'],
  [/^acc\/mean@(\d+)$/, 'held-out accuracy ($1 samples)'],
  [/^pass@(\d+)\/mean$/, 'held-out pass@$1'],
  [/^actor\/entropy$/, 'entropy of the policy'],
  [/^critic\/score\/mean$/, 'reward in training'],
  [/^val-\w+\/\w+\/reward\/mean@1$/, 'held-out reward (one sample)'],
  [/^val-\w+\/\w+\/reward\/mean@(\d+)$/, 'held-out reward ($1 samples)'],
  // What a task says of a text, such as a happy end.
  [/^val-aux\/\w+\/([^/]+)\/mean@1$/, 'held-out $1 (one sample)'],
  [/^val-aux\/\w+\/([^/]+)\/mean@(\d+)$/, 'held-out $1 ($2 samples)'],
  [/^actor\/reward_kl_penalty$/, 'KL to the start, nats'],
  [/^inside\/start_with\/(.+)\/acc$/, 'greedy held-out accuracy of the start with $1 of the run'],
  [
    /^inside\/run_with_starts\/(.+)\/acc$/,
    'greedy held-out accuracy of the run with $1 of the start',
  ],
  [/^inside\/without\/(.+)$/, 'what switching off $1 changes in the held-out reward'],
  [/^inside\/teacher_kl\/(\d+)$/, 'KL of layer $1 to the teacher'],
]

/** What a measure is called in a sentence: 'held-out accuracy (4 samples)'. A metric that is not
 * listed keeps its own name. */
export function measureWords(metric: string): string {
  const own = shortMetric(metric)
  const found = CALLED.find(([pattern]) => pattern.test(own))
  if (!found) return own
  return own.replace(found[0], found[1]).replaceAll('_', ' ')
}

/** The same at the start of a title. */
export const measureTitle = (metric: string): string => {
  const words = measureWords(metric)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
