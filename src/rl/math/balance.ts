// Orders a batch for training: verl balances work over ranks and micro-batches, and
// reorders even on one GPU.
import { maximum, sum } from './stats.ts'

/** Relative work of a sequence of L tokens: 24576 L + L² (verl verl/utils/seqlen_balancing.py
 * calculate_workload: a dense transformer of width 4096, 12 C² L + 2 C L²). */
export function calculateWorkload(seqlen: number): number {
  return 24576 * seqlen + seqlen * seqlen
}

/** One share of a partition under construction: which items, in the order they came, and their
 * sum. */
interface Share {
  readonly sum: number
  readonly items: readonly number[]
}

/** k shares, largest first. */
type Split = readonly Share[]

/** Ascending by sum, then number of items, then the items themselves (Python's order of lists). */
function compareShares(a: Share, b: Share): number {
  if (a.sum !== b.sum) return a.sum - b.sum
  if (a.items.length !== b.items.length) return a.items.length - b.items.length
  const differs = a.items.findIndex((item, i) => item !== b.items[i])
  return differs < 0 ? 0 : a.items[differs] - b.items[differs]
}

const spread = (split: Split) => split[0].sum - split[split.length - 1].sum

/** Order in which splits are taken: widest spread first, then the one with the largest share. */
function compareSplits(a: Split, b: Split): number {
  return spread(b) - spread(a) || compareShares(b[0], a[0])
}

const largestFirst = (shares: Share[]): Split => shares.sort((a, b) => compareShares(b, a))

/** The largest share of one joins the smallest of the other, and so on: differences cancel. */
function combine(a: Split, b: Split): Split {
  return largestFirst(
    a.map((share, i) => {
      const other = b[b.length - 1 - i]
      return { sum: share.sum + other.sum, items: [...share.items, ...other.items] }
    }),
  )
}

/** Puts `split` into the sorted list. */
function insert(splits: Split[], split: Split): void {
  let [low, high] = [0, splits.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareSplits(splits[middle], split) < 0) low = middle + 1
    else high = middle
  }
  splits.splice(low, 0, split)
}

/** Parts the indices of `values` into k lists with nearly equal sums, by the largest differencing
 * method: start with one split per value (per k neighbours in sorted order if every list must be
 * `equalSize`) and keep combining the two widest (Karmarkar and Karp 1982, UCB/CSD-82-113; ties as
 * verl verl/utils/seqlen_balancing.py get_seqlen_balanced_partitions). Indices ascend within a
 * list; the list with the largest sum comes first.
 *
 * RangeError for fewer values than lists, or equalSize with a number of values that k does not
 * divide. */
export function balancedPartitions(
  values: readonly number[],
  k: number,
  { equalSize }: { equalSize: boolean },
): number[][] {
  if (!Number.isInteger(k) || k < 1 || values.length < k)
    throw new RangeError(`${k} partitions: expected 1 to ${values.length}, the number of items`)
  if (equalSize && values.length % k !== 0)
    throw new RangeError(`${k} partitions of equal size: ${values.length} items are no multiple`)
  if (k === 1) return [values.map((_, i) => i)]
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b] || a - b)
  const width = equalSize ? k : 1
  const splits: Split[] = []
  for (let first = 0; first < order.length; first += width) {
    const shares = Array.from({ length: k }, (_, i): Share => {
      if (i >= width) return { sum: 0, items: [] }
      const item = order[first + i]
      return { sum: values[item], items: [item] }
    })
    insert(splits, largestFirst(shares))
  }
  while (splits.length > 1) {
    const [first, second] = splits.splice(0, 2)
    insert(splits, combine(first, second))
  }
  return splits[0].map(({ items }) => [...items].sort((a, b) => a - b))
}

/** Every other item ascending, then the rest descending: the light ones lie at both ends. */
function lightEnds(rows: number[], work: readonly number[]): number[] {
  const sorted = rows.sort((a, b) => work[a] - work[b] || a - b)
  const even = sorted.filter((_, i) => i % 2 === 0)
  const odd = sorted.filter((_, i) => i % 2 === 1)
  return [...even, ...odd.reverse()]
}

/** The rows of each of `dpSize` ranks for sequences of `seqlens` tokens, in the order in which the
 * rank visits them; their concatenation is the new order of the batch. Mini-batches are cut from
 * that order (verl verl/trainer/ppo/ray_trainer.py RayPPOTrainer._balance_batch). Errors as
 * `balancedPartitions`. */
export function balanceBatch(seqlens: readonly number[], dpSize = 1): number[][] {
  const work = seqlens.map(calculateWorkload)
  return balancedPartitions(work, dpSize, { equalSize: true }).map((rows) => lightEnds(rows, work))
}

/** Micro-batches by tokens (`use_dynamic_bsz`): as many as `maxTokenLen` tokens each would need,
 * with nearly equal work, the light ones at both ends. Rows ascend within each. As in verl, an
 * uneven split may exceed maxTokenLen (verl verl/utils/seqlen_balancing.py
 * rearrange_micro_batches). No phase selects it, because the lab cuts equal micro-batches; `lab
 * conform` holds it to verl's.
 *
 * RangeError when a single sequence is longer than maxTokenLen. */
export function dynamicMicroBatches(seqlens: readonly number[], maxTokenLen: number): number[][] {
  const longest = maximum(seqlens)
  if (!(longest <= maxTokenLen))
    throw new RangeError(
      `max_token_len: expected at least the longest sequence, ${longest}, got ${maxTokenLen}`,
    )
  const work = seqlens.map(calculateWorkload)
  const count = Math.min(seqlens.length, Math.ceil(sum(seqlens) / maxTokenLen))
  const parts = balancedPartitions(work, count, { equalSize: false }).map((rows) => ({
    rows,
    work: sum(rows.map((row) => work[row])),
  }))
  parts.sort((a, b) => b.work - a.work || b.rows[0] - a.rows[0])
  const even = parts.filter((_, i) => i % 2 === 0)
  const odd = parts.filter((_, i) => i % 2 === 1)
  return [...even.reverse(), ...odd].map(({ rows }) => rows)
}
