// Says what reading every layer in other ways has found: curves over the layers, a sentence,
// tables.
import type { Readings, ReadText } from '../../../host/protocol/touch.ts'
import { formatNats, formatNumber, formatShare } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { READ } from '../../plot/reads.ts'
import type { FigureLine } from '../../plot/still/figure_lines.ts'

export type Reading = Readings['layers'][number]['readout']

/** Named on every plot, so that nobody takes one for the paper's, which is `raw`. */
export const READING_NAMES: Readonly<Record<Reading, string>> = READ
export const READINGS: readonly Reading[] = ['raw', 'normed', 'tuned', 'jacobian']

export const READ_MEASURES = [
  { key: 'kl', label: 'KL from the final policy' },
  { key: 'entropy', label: 'Entropy' },
] as const
export type ReadMeasure = (typeof READ_MEASURES)[number]['key']

const layersUnder = ({ layers }: Readings, readout: Reading) =>
  layers.filter((one) => one.readout === readout)

/** The last layer, which is always read through the norm. */
const lastOf = ({ layers }: Readings): number => layers[layers.length - 1].layer

/** A line for each reading, over the layers below the last; every line ends in the final policy. */
export function readingLines(
  readings: Readings,
  measure: ReadMeasure,
  looks: readonly { readonly color: string; readonly dash: readonly number[] }[],
): FigureLine[] {
  const last = lastOf(readings)
  const end = readings.layers[readings.layers.length - 1]
  return READINGS.map((readout, i) => {
    const below = layersUnder(readings, readout).filter(({ layer }) => layer < last)
    const all = [...below, end]
    return {
      key: readout,
      label: READING_NAMES[readout],
      ...looks[i],
      at: all.map(({ layer }) => layer),
      middle: all.map((one) => Math.max(0, one[measure])),
      length: all.length,
    }
  })
}

/** How a layer is read, and where its lens comes from. */
export function readingOrigin({ files }: Readings, reading: Reading, step: number): string {
  const name = READING_NAMES[reading]
  if (reading === 'raw' || reading === 'normed') return name
  const file = files[reading]
  return file === undefined ? `${name} fitted after step ${step}` : `${name} of the file ${file}`
}

/** A line for each layer over the states, in one reading; the last is the final policy. */
export function layerLines(
  { states }: Readings,
  reading: Reading,
  measure: ReadMeasure,
  look: (
    layer: number,
    last: number,
  ) => { readonly color: string; readonly dash: readonly number[] },
): FigureLine[] {
  const rows = states.map(({ step, layers }) => {
    const end = layers[layers.length - 1]
    const below = layers.filter((one) => one.readout === reading && one.layer < end.layer)
    return { step, layers: [...below, end] }
  })
  const [first] = rows
  return first.layers.map(({ layer }, i) => ({
    key: `${layer}`,
    label: i === first.layers.length - 1 ? 'final policy' : `layer ${layer}`,
    ...look(layer, first.layers[first.layers.length - 1].layer),
    nameColor: '--ink',
    at: rows.map(({ step }) => step),
    middle: rows.map(({ layers }) => Math.max(0, layers[i][measure])),
    length: rows.length,
  }))
}

/** A row for each state, a column for each layer. */
export function layersTable(
  readings: Readings,
  reading: Reading,
  measure: ReadMeasure,
): NumberTable {
  const lines = layerLines(readings, reading, measure, () => ({ color: '', dash: [] }))
  return {
    columns: ['step', ...lines.map(({ label }) => `${label}, ${READING_NAMES[reading]}`)],
    rows: readings.states.map(({ step }, s) => [
      `${step}`,
      ...lines.map(({ middle }) => formatNumber(middle[s])),
    ]),
  }
}

/** The layer that a tuned lens brings nearest, beside the other readings of it. */
export function readingsSay(readings: Readings, step: number): string {
  const klOf = (layer: number, readout: Reading) =>
    layersUnder(readings, readout).find((one) => one.layer === layer)?.kl ?? 0
  const layers = layersUnder(readings, 'tuned').map(({ layer }) => layer)
  const gains = layers.map((layer) => klOf(layer, 'raw') - klOf(layer, 'tuned'))
  const layer = layers[gains.indexOf(Math.max(...gains))]
  const said = (readout: Reading) => formatNats(klOf(layer, readout))
  const tokens = readings.tokens.held_out.toLocaleString('en')
  return `After step ${step}, on ${tokens} held-out tokens: the raw state of layer ${layer} is ${said('raw')} from the final policy, the normed state ${said('normed')}, ${said('tuned')} through a tuned lens and ${said('jacobian')} through a Jacobian lens. ${
    gains[layers.indexOf(layer)] > 0
      ? 'What the lens can read there, the raw policy does not say.'
      : 'The tuned lens reads no layer better than the paper does.'
  }`
}

/** A row for each layer, every reading's KL and entropy. */
export const readingsTable = (readings: Readings): NumberTable => {
  const layers = [...new Set(readings.layers.map(({ layer }) => layer))]
  const cell = (layer: number, readout: Reading, measure: ReadMeasure) => {
    const found = layersUnder(readings, readout).find((one) => one.layer === layer)
    return found ? formatNumber(found[measure]) : ''
  }
  return {
    columns: [
      'layer',
      ...READ_MEASURES.flatMap(({ label }) =>
        READINGS.map((readout) => `${label}, ${READING_NAMES[readout]}`),
      ),
    ],
    rows: layers.map((layer) => [
      `${layer}`,
      ...READ_MEASURES.flatMap(({ key }) => READINGS.map((readout) => cell(layer, readout, key))),
    ]),
  }
}

/** What the layers of one reading say next, the last layer first. */
export const saidUnder = ({ said }: ReadText, reading: Reading): ReadText['said'] => {
  const last = said[said.length - 1]
  const below = said.filter(({ readout, layer }) => readout === reading && layer < last.layer)
  return [last, ...below.reverse()]
}

/** Each token with its place, so that no two columns have one name. */
export const columnNames = ({ tokens }: ReadText): string[] =>
  tokens.map((token, i) => `${i + 1} ${token}`)

/** What one layer says after one token. */
export function saysNext(text: ReadText, reading: Reading, row: number, column: number): string {
  const rows = saidUnder(text, reading)
  const { layer, top, probs } = rows[row]
  const how = row === 0 ? 'the final policy' : READING_NAMES[reading]
  return `layer ${layer}, ${how}, after token ${column + 1} ${JSON.stringify(text.tokens[column])}: ${JSON.stringify(top[column])} with ${formatShare(probs[column])}`
}

export function saidTable(text: ReadText, reading: Reading): NumberTable {
  const rows = saidUnder(text, reading)
  return {
    columns: [`layer, ${READING_NAMES[reading]}`, ...columnNames(text)],
    rows: rows.map(({ layer, top, probs }) => [
      `${layer}`,
      ...top.map((token, i) => `${token} ${formatNumber(probs[i])}`),
    ]),
  }
}
