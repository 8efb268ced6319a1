// Says what steering vectors have done: a sentence, and a table.
import type { Steering, SteeringEffect } from '../../../host/protocol/touch.ts'
import { formatNumber } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { differenceText } from '../../shown/run_words.ts'
import { estimateText, isTold, measuresOf } from './part_words.ts'

/** `layer 3`, or all of them at once. */
export const layerName = (layer: SteeringEffect['layer']): string =>
  layer === 'all' ? 'all layers' : `layer ${layer}`

/** `layer 3 × −2` */
export const effectName = ({
  layer,
  strength,
}: Pick<SteeringEffect, 'layer' | 'strength'>): string => {
  const by = formatNumber(strength).replace('-', '−')
  return layer === 'all' ? `all layers × ${by}` : `layer ${layer} × ${by}`
}

/** What one strength does: reward, log-prob, and the entropy of every layer. */
export function effectSays(effect: SteeringEffect, untouched: Steering['untouched']): string {
  const { reward, log_prob, entropies } = effect
  const parts = [
    `the reward goes from ${formatNumber(untouched.reward)} by ${estimateText(reward, '')}`,
    ...(log_prob ? [`the log-prob of the right answers by ${estimateText(log_prob, 'nats')}`] : []),
  ]
  const by = entropies.map((one, l) => `${l}: ${estimateText(one, '')}`)
  const own = by.length > 0 ? [`Entropy of each layer’s policy, in nats: ${by.join('; ')}.`] : []
  return [`With ${effectName(effect)}: ${parts.join('; ')}.`, ...own].join(' ')
}

/** Of vectors that a run has trained: what they do at once as they are, and how much of it one of
 * them brings alone; undefined of others. */
function trainedSay(effects: Steering['effects']): string | undefined {
  const asTrained = effects.filter(({ strength }) => strength === 1)
  const all = asTrained.find(({ layer }) => layer === 'all')
  const alone = asTrained.filter(({ layer }) => layer !== 'all')
  if (!all || alone.length === 0) return undefined
  const best = alone.reduce((a, b) => (b.reward.mean > a.reward.mean ? b : a))
  return `All vectors at once, as they were trained, change it by ${estimateText(all.reward, '')}; of those alone ${layerName(best.layer)} brings most, ${estimateText(best.reward, '')}.`
}

/** `layer 3 × −2`; with how many others that change the reward as far. */
function nameAmong(told: Steering['effects'], most: SteeringEffect): string {
  const by = (one: SteeringEffect) => formatNumber(one.reward.mean)
  const others = told.filter((one) => one !== most && by(one) === by(most)).length
  if (others === 0) return effectName(most)
  return others === 1
    ? `${effectName(most)}, like one other,`
    : `${effectName(most)}, like ${others} others,`
}

/** What trained vectors do, or else the vector that raises the held-out reward most, or that none
 * does and which lowers it most. */
export function steeringSays(steering: Steering): string {
  const { step, made, problems, areOthers, untouched, effects } = steering
  const reward = formatNumber(untouched.reward)
  const start = areOthers
    ? `After step ${step}, ${made}. The mean reward of ${problems} other held-out problems is ${reward} without.`
    : `After step ${step}, ${made}. The mean reward of ${problems} held-out problems is ${reward} without.`
  const trained = trainedSay(effects)
  if (trained !== undefined) return `${start} ${trained}`
  const told = effects.filter(({ reward }) => isTold(reward))
  const by = (one: SteeringEffect) => one.reward.mean
  if (told.length === 0) return `${start} No vector changes it as far as these problems can show.`
  const best = told.reduce((a, b) => (by(b) > by(a) ? b : a))
  if (by(best) > 0)
    return `${start} ${nameAmong(told, best)} raises it most, by ${estimateText(best.reward, '')}.`
  const worst = told.reduce((a, b) => (by(b) < by(a) ? b : a))
  return `${start} No vector raises it as far as these problems can show; ${nameAmong(told, worst)} lowers it most, by ${estimateText(worst.reward, '')}.`
}

/** A row for each vector and strength. */
export function steeringTable(steering: Steering): NumberTable {
  const measures = measuresOf(steering)
  return {
    columns: [
      'layer',
      'strength',
      ...measures.flatMap(({ label, unit }) => [`${label}, change${unit && ','}${unit}`, '± 95 %']),
    ],
    rows: steering.effects.map((effect) => [
      `${effect.layer}`,
      formatNumber(effect.strength),
      ...measures.flatMap((measure) => {
        const found = measure.of(effect)
        return found ? [differenceText(found.mean, false), formatNumber(found.interval)] : ['', '']
      }),
    ]),
  }
}
