// Fits the translators that a phase reads its layers through, at its first step, or takes those of
// files.
import { lensPlaces } from '../../config/lens_places.ts'
import type { Phase } from '../../config/phase.ts'
import type { RolloutBatch } from '../../experience/batch.ts'
import { lensesOf } from '../../learners/lens/lens_files.ts'
import type { RowPrompts } from '../../learners/lens/phase_lens.ts'
import type { Training } from './training.ts'

/** Fits them on the rows of the step, where that has not been done; KL on rows that are held out,
 * as metrics. */
export async function fitLens(
  { parts, config, layout, begunWith }: Pick<Training, 'parts' | 'config' | 'layout' | 'begunWith'>,
  phase: Phase,
  batch: RolloutBatch,
  prompts: RowPrompts,
): Promise<Record<string, number> | undefined> {
  const places = lensPlaces(phase, config.model)
  if (places.length === 0 || !parts.lens || parts.lens.isFor(places)) return undefined
  const { lensFiles } = config
  const given =
    lensFiles && lensesOf(lensFiles, { shape: layout.shape, ...(begunWith && { hash: begunWith }) })
  return parts.lens.fit(places, batch, prompts, given)
}
