// Selects whether the browser gives this page no GPU at all: nothing can be trained here then, and
// everything else works.
import type { LabState } from './store.ts'

type Code = NonNullable<LabState['error']>['code']

const CODES: readonly Code[] = ['no_webgpu', 'insecure_origin', 'no_adapter']

/** The page never had a GPU. One that a run loses later is an error of that run. */
export const selectLacksGpu = ({ error, adapter }: LabState): boolean =>
  error !== undefined && adapter === undefined && CODES.includes(error.code)
