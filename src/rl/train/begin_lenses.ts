// Checks that the lenses of files are of the model that a run begins with.
import { modelHash } from '../../model/lenses/lens_file.ts'
import { lensesOf } from '../learners/lens/lens_files.ts'
import type { Trainer } from './trainer.ts'

/** Before the first step, when the weights are there. Throws as lensesOf does. */
export async function checkLenses(
  trainer: Pick<Trainer, 'config' | 'layout' | 'exportWeights'>,
): Promise<void> {
  const { lensFiles } = trainer.config
  if (!lensFiles) return
  const hash = modelHash(await trainer.exportWeights())
  lensesOf(lensFiles, { shape: trainer.layout.shape, hash })
}
