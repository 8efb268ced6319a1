// What options of the command line put in place of an experiment's own fields: the seed and the data.
import { UsageError } from '../command.ts'
import { type DataOptions, givenData, trainedOn } from './data_set.ts'
import type { DocumentChange } from './experiment_source.ts'

/** The change that --seed, --data and --val-data ask for; undefined where there is none. Throws UsageError or LabFailure. */
export function changeOf(
  values: DataOptions & { readonly seed?: string | undefined },
): DocumentChange | undefined {
  const seed = wholeNumber('--seed', values.seed)
  const task = givenData(values)
  if (seed === undefined && task === undefined) return undefined
  return (document) => ({
    ...(seed !== undefined && { seed }),
    ...(task && trainedOn(task)(document)),
  })
}

/** Throws UsageError. */
export function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,15}$/.test(text))
    throw new UsageError(`${name}: expected a whole number, got '${text}'`)
  return text === undefined ? undefined : Number(text)
}
