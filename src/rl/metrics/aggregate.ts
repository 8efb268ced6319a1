// Reduces the numbers of micro-batches and ranks to one: verl's Metric
// (verl/utils/metric/utils.py).
import { maximum, mean, minimum, sum } from '../math/stats.ts'

const AGGREGATES = { mean, sum, max: maximum, min: minimum } as const

/** values[rank][micro batch] as one number: sums and means are of the ranks' average of each
 * micro-batch, extremes are over all. One rank gives what verl's Metric.aggregate does. RangeError
 * unless the ranks have equally many values. */
export function aggregateRanks(
  values: readonly (readonly number[])[],
  aggregation: 'mean' | 'sum' | 'max' | 'min',
): number {
  const aggregate = AGGREGATES[aggregation]
  const [first] = values
  if (!first) throw new RangeError('values: expected those of a rank, found none')
  if (values.some((rank) => rank.length !== first.length))
    throw new RangeError(
      `values: expected ${first.length} of every rank, found ${values.map((rank) => rank.length)}`,
    )
  if (aggregation === 'max' || aggregation === 'min') return aggregate(values.flat())
  return aggregate(first.map((_, i) => mean(values.map((rank) => rank[i]))))
}
