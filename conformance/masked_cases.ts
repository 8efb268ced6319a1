// Runs golden cases of masked sums, means and whitening.
import {
  maskedMean,
  maskedMeanColumns,
  maskedMeanRows,
  maskedSum,
  maskedSumRows,
  maskedVar,
  maskedWhiten,
} from '../src/rl/math/masked.ts'
import type { Fixture, Handler } from './base/fixture.ts'
import { F64, PRODUCTION, within } from './base/tolerances.ts'

function readValues({ inputs }: Fixture) {
  const values = inputs.matrix('values')
  return { x: values.data, mask: inputs.matrix('mask', values).data, columns: values.columns }
}

const masked_mean: Handler = (fixture) => {
  const { x, mask, columns } = readValues(fixture)
  const run = () =>
    within(F64, {
      sum_all: maskedSum(x, mask),
      sum_axis_last: maskedSumRows(x, mask, columns),
      mean_all: maskedMean(x, mask),
      mean_axis_last: maskedMeanRows(x, mask, columns),
      mean_axis_first: maskedMeanColumns(x, mask, columns),
    })
  return [{ on: 'driver', run }]
}

const masked_whiten: Handler = (fixture) => {
  const { x, mask } = readValues(fixture)
  const run = () =>
    within(F64, {
      var_unbiased: maskedVar(x, mask),
      var_biased: maskedVar(x, mask, { unbiased: false }),
      whiten: maskedWhiten(x, mask),
      whiten_shift_mean_false: maskedWhiten(x, mask, { shiftMean: false }),
    })
  return [{ on: 'driver', run }]
}

/** `masked_whiten` of production_float32. */
export const productionWhiten: Handler = (fixture) => {
  const { x, mask } = readValues(fixture)
  const run = () =>
    within(PRODUCTION, { whiten: maskedWhiten(x, mask), mean_all: maskedMean(x, mask) })
  return [{ on: 'driver', run }]
}

export const MASKED_CASES: Readonly<Record<string, Handler>> = { masked_mean, masked_whiten }
