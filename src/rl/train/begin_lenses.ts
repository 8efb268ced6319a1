// Checks that the lenses of files are of the model that a run begins with.
import { modelHash } from '../../model/lenses/lens_file.ts'
import type { Trainer } from './trainer.ts'

/** Before the first step, when the weights are there; a state remembers them. Throws as lensesOf
 * does. */
export async function checkLenses(
  trainer: Pick<Trainer, 'config' | 'beginWith' | 'exportWeights'>,
): Promise<void> {
  if (trainer.config.lensFiles) trainer.beginWith(modelHash(await trainer.exportWeights()))
}
