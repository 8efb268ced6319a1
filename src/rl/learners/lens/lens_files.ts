// Reads the lenses that phases read layers through from their files.
import type { ModelShape } from '../../../model/layout/config.ts'
import { TRANSLATED_READOUTS, type TranslatedReadout } from '../../../model/layout/readout.ts'
import type { Lens } from '../../../model/layout/translators.ts'
import { readLensFile } from '../../../model/lenses/lens_file.ts'
import { knownFile } from '../../config/begun_files.ts'
import type { LensFiles } from '../../config/lens_settings.ts'

/** The lenses of these files. `hash`: of the weights that they must be of; without it any model of
 * the shape. Throws RangeError where a file is not here or holds the other kind, and ModelFileError
 * for one of another model, of another shape or with a number that is not finite. */
export function lensesOf(
  named: LensFiles,
  owner: { readonly shape: ModelShape; readonly hash?: string },
): ReadonlyMap<TranslatedReadout, Lens> {
  return new Map(
    TRANSLATED_READOUTS.flatMap((readout) => {
      const hash = named[readout]
      if (hash === undefined) return []
      const file = knownFile(hash)
      if (!file)
        throw new RangeError(`model.lenses.${readout}: ${hash} is not here; give the file again`)
      const lens = readLensFile(file.bytes, file.name, owner)
      if (lens.readout !== readout)
        throw new RangeError(
          `model.lenses.${readout}: expected the file of a ${readout} lens, found ${file.name}, which is a ${lens.readout} lens`,
        )
      return [[readout, lens] as const]
    }),
  )
}
