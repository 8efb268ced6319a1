// Says in words what the trainer calls a metric.
import { isMetric } from './columns.ts'

/** Where the trainer's own name is a short form. */
const SAID: Readonly<Record<string, string>> = {
  adv: 'advantages',
  'aborted ratio': 'share of aborted responses',
  dispatches: 'dispatches a step',
  gen: 'sampling',
  'global step': 'step of the run',
  'grad norm': 'gradient norm',
  informative: 'share of groups with a difference',
  lr: 'learning rate',
  'not ended ratio': 'share of responses without an end',
  'old log prob': 'old policy',
  'pg clipfrac': 'clip fraction',
  'pg clipfrac lower': 'clip fraction of the third bound',
  'pg loss': 'policy loss',
  'ppo kl': 'KL to the old policy',
  probe: 'entropies of the layers',
  'response length non aborted': 'length of responses that were not aborted',
  reward: 'scoring',
  score: 'scores of responses',
  'skipped updates': 'skipped updates',
  'skipped updates total': 'skipped updates in all',
  step: 'whole step',
  submits: 'submits a step',
  testing: 'validation',
  'time per step': 'time per step',
  'total num tokens': 'tokens of a step',
  trace: 'token table',
  values: 'values of the critic',
}

/** The end of a name that says more than its beginning. */
function wholeWords(prefix: string, own: string): string | undefined {
  const [, layer] = /^entropy\/(\d+)$/.exec(own) ?? []
  if (prefix === 'layer' && layer !== undefined) return `entropy of layer ${layer}`
  const [, kind, way] = (/^val-/.test(prefix) && /\/(acc|reward)\/([^/]+)$/.exec(own)) || []
  if (kind === 'acc') return `held-out accuracy: ${way}`
  return kind === 'reward' ? `held-out reward: ${way}` : undefined
}

/** What a metric of the trainer is in words: 'critic/advantages/max' is 'advantages (largest)'. */
export function metricWords(column: string): string {
  if (!isMetric(column)) return ''
  const metric = column.slice(column.indexOf(':') + 1).replaceAll('_', ' ')
  const [, prefix, own] = /^([^/]+)\/(.+)$/.exec(metric) ?? []
  if (own === undefined) return ''
  const whole = wholeWords(prefix, own)
  if (whole !== undefined) return whole
  const [, of = prefix, end] = /^(?:(.+)\/)?(min|max|mean|clip ratio)$/.exec(own) ?? []
  const name = SAID[of] ?? of
  // Lengths alone have such a ratio: that of what was cut off.
  if (end === 'clip ratio') return `${name} (share cut off)`
  if (end === 'mean') return `${name} (mean)`
  if (end === undefined) return SAID[own] ?? own.replaceAll('/', ' ')
  return end === 'min' ? `${name} (smallest)` : `${name} (largest)`
}
