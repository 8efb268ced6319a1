// Says what wrote a token: the rows and columns of its two maps, a sentence, a table.
import type { Touched } from '../../../host/protocol/touch.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'

export type Written = Extract<Touched, { what: 'attribution' }>

/** What one part adds to a token's logit, above the mean logit of the vocabulary. */
export interface Added {
  /** 0: the embedding. */
  readonly layer: number
  /** Of layers above 0. */
  readonly part?: 'attention' | 'feed_forward' | { readonly head: number }
  readonly by: number
}

/** The embedding, then each block: attention, its heads, feed-forward. `at`: the token, from 1. */
export function addedTo({ attributed }: Written, at: number): readonly (readonly Added[])[] {
  const { embed, attention, feed_forward, head } = attributed
  const s = at - 1
  return [
    [{ layer: 0, by: embed[s] }],
    ...attention.map((own, l): Added[] => [
      { layer: l + 1, part: 'attention', by: own[s] },
      ...head[l].map((x, h): Added => ({ layer: l + 1, part: { head: h }, by: x[s] })),
      { layer: l + 1, part: 'feed_forward', by: feed_forward[l][s] },
    ]),
  ]
}

export function addedName({ layer, part }: Added): string {
  if (part === undefined) return 'the embedding'
  if (part === 'attention') return `the attention of layer ${layer}`
  if (part === 'feed_forward') return `the feed-forward of layer ${layer}`
  return `head ${part.head + 1} of layer ${layer}`
}

/** What a head looks at where the token is chosen: a share for each token before it. */
export interface Looks {
  readonly layer: number
  readonly head: number
  readonly shares: readonly number[]
}

export function looksAt({ attributed }: Written, at: number): readonly Looks[] {
  const n = attributed.ids.length
  const s = at - 1
  return attributed.looksAt.flatMap((heads, l) =>
    heads.map((probs, head) => ({
      layer: l + 1,
      head,
      shares: Array.from(probs.subarray(s * n, s * n + at)),
    })),
  )
}

/** Which weights take a logit apart, and why not those that wrote the token: few are kept. `state`:
 * the step they are after; `step`: that sampled the token. */
export function weightsSay(state: number, step: number): string {
  const differs = 'Its logit may differ from the one that wrote it.'
  if (state === step - 1) return `with the weights after step ${state}`
  return state < step
    ? `with the weights after step ${state}, the newest kept state before step ${step}. ${differs}`
    : `with the weights after step ${state}, the oldest kept state. ${differs}`
}

const most = <T>(all: readonly T[], of: (one: T) => number): T =>
  all.reduce((best, one) => (of(one) > of(best) ? one : best))

/** Which part adds the most to the logit of the token, or lowers one below the mean most, and where
 * the head that moves it most looks. */
export function writingSays(written: Written, at: number): string {
  const { step, tokens, attributed } = written
  const rows = addedTo(written, at)
  const whole = rows.flat().filter(({ part }) => typeof part !== 'object')
  const heads = rows.flat().filter(({ part }) => typeof part === 'object')
  const total = attributed.total[at - 1]
  const isLow = total < 0
  const part = most(whole, ({ by }) => (isLow ? -by : by))
  // Of a low logit too a head may only raise it.
  const head = most(heads, ({ by }) => (isLow ? Math.abs(by) : by))
  const place = heads.indexOf(head)
  const { shares } = looksAt(written, at)[place]
  const seen = shares.indexOf(Math.max(...shares))
  return isLow
    ? `With the weights after step ${step}, “${tokens[at]}” has a logit ${formatNumber(-total)} below the mean of all tokens. ${capital(addedName(part))} lowers it most, by ${formatNumber(-part.by)}. Of the heads ${addedName(head)} has the largest share, ${formatNumber(head.by)}, and looks mostly at token ${seen + 1}, “${tokens[seen]}” (${formatShare(shares[seen])}).`
    : `With the weights after step ${step}, “${tokens[at]}” has a logit ${formatNumber(total)} above the mean of all tokens. ${capital(addedName(part))} adds the most of it, ${formatNumber(part.by)}. Of the heads ${addedName(head)} adds the most, ${formatNumber(head.by)}, and looks mostly at token ${seen + 1}, “${tokens[seen]}” (${formatShare(shares[seen])}).`
}

const capital = (text: string) => text[0].toUpperCase() + text.slice(1)

/** A row for each part and a column for each token. */
export function writingTable(written: Written): NumberTable {
  const { tokens } = written
  const columns = tokens.slice(1).map((_, i) => addedTo(written, i + 1).flat())
  return {
    columns: ['adds', ...tokens.slice(1).map((token, i) => `${i + 2}: ${token}`)],
    rows: columns[0].map((part, row) => [
      addedName(part),
      ...columns.map((column) => formatNumber(column[row].by)),
    ]),
  }
}

/** A row for each head, what it looks at where the token is chosen. */
export function looksTable(written: Written, at: number): NumberTable {
  const { tokens } = written
  return {
    columns: ['head', ...tokens.slice(0, at).map((token, i) => `${i + 1}: ${token}`)],
    rows: looksAt(written, at).map(({ layer, head, shares }) => [
      `head ${head + 1} of layer ${layer}`,
      ...shares.map((share) => formatNumber(share)),
    ]),
  }
}
