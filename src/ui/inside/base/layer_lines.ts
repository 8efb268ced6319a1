// Turns what was observed over the steps into a line for each layer, in one reading of its states,
// and says what that found.
import type { LensReading, Observation } from '../../../host/protocol/observation.ts'
import { layerName, theLayer } from '../../glossary/layer_names.ts'
import { formatNats, formatNumber } from '../../kit/format.ts'
import { wouldPress } from '../../plot/chart_lines.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import type { FigureLine } from '../../plot/still/figure_lines.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { seriesOf } from '../../shown/run.ts'
import { READING_NAMES, type Reading } from '../../touch/words/reading_words.ts'
import type { Seen } from './observed.ts'

type LensName = LensReading['readout']

/** The lens that a reading takes; undefined where it needs none. */
export const lensOf = (reading: Reading): LensName | undefined =>
  reading === 'tuned' || reading === 'jacobian' ? reading : undefined

/** One step: the policy of every layer, the final one last, in nats. */
interface LayerStep {
  readonly step: number
  readonly entropies: readonly number[]
  readonly lens: LensReading | undefined
}

const readIn = ({ readings = [] }: Observation, reading: Reading): LensReading | undefined =>
  readings.find(({ readout }) => readout === reading)

/** Of the layers below the last. */
function below(observation: Observation, reading: Reading): readonly number[] | undefined {
  const { mean, num_hidden_layers: L } = observation
  if (lensOf(reading)) return readIn(observation, reading)?.entropy
  return (reading === 'raw' ? mean.ent_layer_raw : mean.ent_layer_norm)?.slice(0, L)
}

/** The steps that were read so, up to `until`. */
export function layerSteps(
  items: readonly Seen[],
  reading: Reading,
  until: number | undefined,
): readonly LayerStep[] {
  return items.flatMap(({ step, item }) => {
    const layers = below(item, reading)
    const final = item.mean.ent_layer_norm?.[item.num_hidden_layers]
    if (!layers || final === undefined || (until !== undefined && step > until)) return []
    return [{ step, entropies: [...layers, final], lens: readIn(item, reading) }]
  })
}

/** The steps whose metrics have the raw policies of all layers, up to `until`. */
export function measuredSteps(last: number, until: number | undefined): readonly LayerStep[] {
  const rows = Array.from({ length: last + 1 }, (_, layer) => seriesOf(layerEntropy(layer)))
  const [first] = rows
  return Array.from({ length: first?.length ?? 0 }, (_, i) => ({
    step: first?.steps[i] ?? 0,
    entropies: rows.map((row) => row?.values[i] ?? Number.NaN),
    lens: undefined,
  })).filter(
    ({ step, entropies }) =>
      (until === undefined || step <= until) && entropies.every(Number.isFinite),
  )
}

/** A line for each layer; the last is the final policy. */
export function layerLines(
  steps: readonly LayerStep[],
  look: (layer: number, last: number) => Pick<FigureLine, 'color' | 'dash'>,
): FigureLine[] {
  const at = steps.map(({ step }) => step)
  const last = (steps[0]?.entropies.length ?? 0) - 1
  return Array.from({ length: last + 1 }, (_, layer) => ({
    key: `${layer}`,
    label: layerName(layer, last),
    ...look(layer, last),
    nameColor: '--ink',
    at,
    middle: steps.map(({ entropies }) => entropies[layer]),
    length: at.length,
  }))
}

const highest = (lines: readonly FigureLine[]): number =>
  Math.max(...lines.flatMap(({ middle }) => Array.from(middle)))

/** Of many words the embedding stays near ln V: where the layers would lie flat below it, it is
 * left out, and `above` says so. */
export function readableLines(lines: readonly FigureLine[]): {
  readonly drawn: readonly FigureLine[]
  readonly above?: string
} {
  const [embedding, ...others] = lines
  if (!embedding || !wouldPress(highest([embedding]), highest(others))) return { drawn: lines }
  const now = formatNats(embedding.middle[embedding.length - 1])
  return {
    drawn: others,
    above: `Above this axis: ${embedding.label}, ${now} at the end. Its values are in “Numbers”.`,
  }
}

/** How the layers are read, and where a lens comes from. */
export function readingTitle(steps: readonly LayerStep[], reading: Reading): string {
  const name = READING_NAMES[reading]
  if (!lensOf(reading) || steps.length === 0) return name
  const fitted = [...new Set(steps.flatMap(({ lens }) => lens?.fitted_after ?? []))]
  if (fitted.length === 0) return `${name} of the run’s file`
  return `${name} fitted after step ${fitted.join(' and ')}`
}

/** The layer below the final policy whose own moved most; of a lens also how far it is from the
 * final one. */
export function layersSay(steps: readonly LayerStep[], reading: Reading): string | undefined {
  const [first, seen] = [steps[0], steps[steps.length - 1]]
  if (!first || !seen) return undefined
  const last = seen.entropies.length - 1
  const moves = seen.entropies.slice(0, last).map((now, layer) => now - first.entropies[layer])
  const sizes = moves.map(Math.abs)
  const layer = sizes.indexOf(Math.max(...sizes))
  const from = (of: number) =>
    `${formatNumber(first.entropies[of])} to ${formatNumber(seen.entropies[of])} nats`
  const said =
    first === seen
      ? `At step ${seen.step}, ${readingTitle(steps, reading)}: ${theLayer(layer, last)} has ${formatNumber(seen.entropies[layer])} nats, the final policy ${formatNumber(seen.entropies[last])}.`
      : `From step ${first.step} to ${seen.step}, ${readingTitle(steps, reading)}: below the final policy the entropy of ${theLayer(layer, last)} moved most, from ${from(layer)}; that of the final policy went from ${from(last)}.`
  if (!first.lens || !seen.lens) return said
  const kl = ({ kl }: LensReading) => `${formatNumber(Math.max(0, kl[layer]))} nats`
  return first === seen
    ? `${said} The lens is ${kl(seen.lens)} (KL) from the final policy there.`
    : `${said} The lens was ${kl(first.lens)} (KL) from the final policy there and is ${kl(seen.lens)}.`
}

/** A row for each step, a column for each layer. */
export function layersTable(steps: readonly LayerStep[], reading: Reading): NumberTable {
  const last = (steps[0]?.entropies.length ?? 0) - 1
  return {
    columns: [
      'step',
      ...Array.from(
        { length: last },
        (_, layer) => `${layerName(layer, last)}, ${READING_NAMES[reading]}`,
      ),
      layerName(last, last),
    ],
    rows: steps.map(({ step, entropies }) => [`${step}`, ...entropies.map((x) => formatNumber(x))]),
  }
}
