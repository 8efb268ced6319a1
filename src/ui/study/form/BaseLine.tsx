// Says what all arms of a study begin from: the nearest preset, and what differs from it.
import { useMemo } from 'react'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { decodeLink, encodeLink } from '../../../document/links/link.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { baseOf } from '../../../document/study/draft/over_study.ts'
import type { Study } from '../../../document/study/study.ts'
import { differenceWords } from '../../../record/run/difference_words.ts'

/** More differences are counted. */
const MOST = 6

/** 'First run with GRPO, with lr 5e-4, 3 phases'. */
export function baseWords(experiment: Experiment): string {
  const { preset_id } = decodeLink(encodeLink(experiment))
  const preset = presetOf(preset_id)
  if (!preset) return 'settings of their own'
  const seedless = { ...experiment, seed: preset.experiment.seed }
  const words = differenceWords(seedless, preset.experiment)
  if (words.length === 0) return `“${preset.name}” as it is`
  const more = words.length > MOST ? ` and ${words.length - MOST} more` : ''
  return `“${preset.name}”, with ${words.slice(0, MOST).join(', ')}${more}`
}

export function BaseLine({ study }: { readonly study: Study }) {
  const words = useMemo(() => {
    const base = baseOf(study)
    return base && baseWords(base)
  }, [study])
  if (words === undefined) return null
  return (
    <p className="soft" data-testid="study-base">
      All arms begin from {words}.
    </p>
  )
}
