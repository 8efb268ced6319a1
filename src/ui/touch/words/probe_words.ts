// Says what linear probes have found: the curves over layers, a sentence, a table.
import type { LayerProbe, ProbedState, Probes } from '../../../host/protocol/touch.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import type { FigureLine } from '../../plot/still/figure_lines.ts'
import { differenceText } from '../../shown/run_words.ts'
import { isTold } from './part_words.ts'

/** States with probes, the oldest first. */
export const toldApart = ({ states }: Probes): readonly ProbedState[] =>
  [...states].filter(({ layers }) => layers.length > 0).sort((a, b) => a.step - b.step)

export const isFound = ({ gain }: LayerProbe): boolean => isTold(gain) && gain.mean > 0

/** The layer whose probe says most of the problems right. */
export const bestOf = ({ layers }: ProbedState): number =>
  layers.reduce((best, one, l) => (one.accuracy.mean > layers[best].accuracy.mean ? l : best), 0)

/** What the shares are of. */
const askedWords = ({ held_out, tokens }: Probes['problems']): string =>
  tokens === undefined
    ? `${held_out} held-out problems`
    : `${tokens} answer tokens of ${held_out} held-out problems`

/** What the map shows, in percent. */
export const probesTitle = ({ label, problems }: Probes): string =>
  problems.tokens === undefined
    ? `Held-out problems whose layer tells ${label}, %`
    : `Held-out answer tokens at which the layer tells ${label}, %`

const layerName = (layer: number): string => (layer === 0 ? 'the embedding' : `layer ${layer}`)

/** The layer that tells most in the newest state, and the first that tells more than chance. */
export function probesSay(probes: Probes): string {
  const { label, problems } = probes
  const told = toldApart(probes)
  const newest = told[told.length - 1]
  const best = bestOf(newest)
  const { accuracy, control } = newest.layers[best]
  const first = newest.layers.findIndex(isFound)
  const at = `After step ${newest.step}`
  const most = `${formatShare(accuracy.mean)} ± ${formatShare(accuracy.interval)} of ${askedWords(problems)}, with shuffled labels ${formatShare(control.mean)}`
  if (first < 0)
    return `${at}, no layer tells ${label} better than shuffled labels, as far as these problems can show; the best is ${layerName(best)} with ${most}.`
  const whole = `${at}, ${layerName(best)} tells ${label} best: ${most}. The first that tells it better than shuffled labels is ${layerName(first)}.`
  const [oldest] = told
  if (oldest === newest) return whole
  return `${whole} After step ${oldest.step}, ${layerName(best)} told it for ${formatShare(oldest.layers[best].accuracy.mean)}.`
}

/** What a probe of one layer found, for the read-out. */
export const probeSays = ({ step, layers }: ProbedState, layer: number): string => {
  const { accuracy, control, gain, fitted } = layers[layer]
  return `step ${step}, layer ${layer}: ${formatShare(accuracy.mean)} ± ${formatShare(accuracy.interval)}; with shuffled labels ${formatShare(control.mean)}, so ${differenceText(gain.mean, true)} ± ${formatShare(gain.interval)}; on the problems it was fitted on ${formatShare(fitted)}`
}

const cut = (value: number): number => Math.min(1, Math.max(0, value))

type Looks = readonly { readonly color: string; readonly dash: readonly number[] }[]

const linesOf = (at: readonly number[], found: readonly LayerProbe[], looks: Looks): FigureLine[] =>
  (['accuracy', 'control'] as const).map((key, i) => ({
    key,
    label: key === 'accuracy' ? 'probe' : 'shuffled labels',
    ...looks[i],
    at,
    middle: found.map((one) => one[key].mean),
    low: found.map((one) => cut(one[key].mean - one[key].interval)),
    high: found.map((one) => cut(one[key].mean + one[key].interval)),
    length: found.length,
  }))

/** Over the layers of one state: the probes and their control. */
export const probeLines = ({ layers }: ProbedState, looks: Looks): FigureLine[] =>
  linesOf(
    layers.map((_, l) => l),
    layers,
    looks,
  )

/** Of one layer over training: the probes of every kept state and their control. */
export function probeLinesOverSteps(probes: Probes, layer: number, looks: Looks): FigureLine[] {
  const states = toldApart(probes)
  return linesOf(
    states.map(({ step }) => step),
    states.map(({ layers }) => layers[layer]),
    looks,
  )
}

/** A row for each layer of each state. */
export const probesTable = (probes: Probes): NumberTable => ({
  columns: [
    'step',
    'layer',
    'accuracy',
    '± 95 %',
    'shuffled labels',
    '± 95 %',
    'difference',
    '± 95 %',
    'on the fitted problems',
    'always the commonest',
  ],
  rows: toldApart(probes).flatMap(({ step, layers, commonest }) =>
    layers.map(({ accuracy, control, gain, fitted }, layer) => [
      `${step}`,
      `${layer}`,
      ...[accuracy, control].flatMap(({ mean, interval }) => [
        formatNumber(mean),
        formatNumber(interval),
      ]),
      differenceText(gain.mean, false),
      formatNumber(gain.interval),
      formatNumber(fitted),
      formatNumber(commonest),
    ]),
  ),
})
