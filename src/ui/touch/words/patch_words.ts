// Says what patching has found: the rows and columns of its map, a sentence, a table.
import type { Patching, Recovery, Touched } from '../../../host/protocol/touch.ts'
import { formatNumber, withMinus } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'

export type Patched = Extract<Touched, { what: 'patching' }>

/** The kinds of place, each a map of its own. */
export const PATCH_VIEWS = [
  { where: 'residual', label: 'the residual stream' },
  { where: 'attention', label: 'attention' },
  { where: 'feed_forward', label: 'feed-forward' },
  { where: 'head', label: 'each head' },
] as const
export type PatchView = (typeof PATCH_VIEWS)[number]['where']

/** Places of one kind, the last block on top. */
export const placesIn = ({ places }: Patching, view: PatchView): readonly Recovery[] =>
  places
    .filter(({ where }) => where === view)
    .sort((a, b) => b.layer - a.layer || (a.head ?? 0) - (b.head ?? 0))

/** A row of the map. */
export function rowName({ where, layer, head }: Recovery): string {
  if (where === 'residual') return layer === 0 ? 'embedding' : `after layer ${layer}`
  return head === undefined ? `layer ${layer}` : `layer ${layer} head ${head + 1}`
}

function placeName({ where, layer, head }: Recovery): string {
  if (where === 'residual') return layer === 0 ? 'the embedding' : `the stream after layer ${layer}`
  if (where === 'head') return `head ${(head ?? 0) + 1} of layer ${layer}`
  return `the ${where === 'attention' ? 'attention' : 'feed-forward'} of layer ${layer}`
}

/** The tokens of the first pair, with their number; both where they differ. */
export function tokenNames({ patching, texts }: Patched): string[] {
  const [{ clean, corrupted }] = patching.pairs
  return clean.map((id, t) => {
    const other = corrupted[t] === id ? '' : ` / ${texts[corrupted[t]]}`
    return `${t + 1}: ${texts[id]}${other}`
  })
}

/** Recovery as a share of the difference between the two answers. */
export const recoveryText = (recovery: number): string =>
  `${withMinus(String(Math.round(100 * recovery)))}\u00a0%`

/** What a cell says. */
export const cellSays = (place: Recovery, t: number, tokens: readonly string[]): string =>
  `${placeName(place)} at token ${tokens[t]}: brings back ${recoveryText(place.recovery[t])} of the difference`

const bestToken = ({ recovery }: Recovery): number =>
  recovery.reduce((best, x, t) => (x > recovery[best] ? t : best), 0)

/** Where the answer sits from the embedding to the last block, and which part carries it. */
export function patchingSays({ step, patching, texts }: Patched): string {
  const { pairs, tried, logit_diff } = patching
  const tokens = tokenNames({ what: 'patching', step, patching, texts })
  const stream = placesIn(patching, 'residual').toReversed()
  const path = stream
    .map((place) => ({ place, t: bestToken(place) }))
    .filter(({ t }, l, all) => t !== all[l - 1]?.t)
  const [from, ...moves] = path
  const on = moves.map(({ place, t }) => `from layer ${place.layer} on at token ${tokens[t]}`)
  const parts = patching.places.filter(({ where }) => where !== 'residual')
  const [first, ...others] = parts
  const part = others.reduce(
    (best, one) => (one.recovery[bestToken(one)] > best.recovery[bestToken(best)] ? one : best),
    first,
  )
  const at = bestToken(part)
  const of =
    tried === 1
      ? `After step ${step} the answer is “${texts[pairs[0].answer]}” to the clean text and “${texts[pairs[0].wrong]}” to the other.`
      : `After step ${step} the model tells ${pairs.length} of ${tried} pairs of problems apart.`
  return `${of} What decides it sits at token ${tokens[from.t]} in the embedding${on.map((words) => `, ${words}`).join('')}. Of the parts ${placeName(part)} at token ${tokens[at]} brings back the most, ${recoveryText(part.recovery[at])} of a difference of ${formatNumber(logit_diff.clean - logit_diff.corrupted)} in logits.`
}

/** A row for each place, and a column for each token. */
export function patchingTable(patched: Patched): NumberTable {
  return {
    columns: ['exchanged', ...tokenNames(patched)],
    rows: patched.patching.places.map((place) => [
      placeName(place),
      ...place.recovery.map((x) => formatNumber(x)),
    ]),
  }
}
