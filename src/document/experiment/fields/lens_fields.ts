// Declares the fields of the lenses that inner layers are read through, where files give them.
import type { TranslatedReadout } from '../../../model/layout/readout.ts'
import type { LensFiles } from '../../../rl/config/lens_settings.ts'
import type { Tree } from '../../../rl/fields/field.ts'
import { hashField, SOURCE_NAME } from './lora_fields.ts'

/** A file of one lens. */
interface LensField {
  /** The hash of the file; null = phases fit their own. */
  readonly source: string | null
  readonly source_name: string | null
}

/** The `model.lenses` section. */
export type LensFields = Readonly<Record<TranslatedReadout, LensField>>

/** The files as the trainer's config has them; undefined where there are none. */
export function lensFilesOf({ tuned, jacobian }: LensFields): LensFiles | undefined {
  if (tuned.source === null && jacobian.source === null) return undefined
  return {
    ...(tuned.source !== null && { tuned: tuned.source }),
    ...(jacobian.source !== null && { jacobian: jacobian.source }),
  }
}

const fileOf = (lens: string): Tree<LensField> => ({
  source: hashField(lens, 'The hash of its file; none = phases fit their own.'),
  source_name: SOURCE_NAME,
})

export const LENSES: Tree<LensFields> = {
  tuned: fileOf('Tuned lens'),
  jacobian: fileOf('Jacobian lens'),
}
