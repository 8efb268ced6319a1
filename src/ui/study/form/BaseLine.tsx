// Says what all arms of a study begin from: the nearest preset, and what differs from it.
import { useMemo } from 'react'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { decodeLink, encodeLink } from '../../../document/links/link.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import type { Arm } from '../../../document/study/arms.ts'
import { baseOf } from '../../../document/study/draft/over_study.ts'
import type { Study } from '../../../document/study/study.ts'
import { differenceWords } from '../../../record/run/difference_words.ts'

/** More differences are counted. */
const MOST = 6
/** With more than so many the preset is only the nearest one, and its name would mislead. */
const MOST_OF_PRESET = 9

const stepsOf = ({ phases }: Experiment): number =>
  phases.reduce((sum, { steps }) => sum + steps, 0)

/** What an experiment says otherwise than a preset; where it has other phases, also how many steps
 * they take. */
function wordsOf(experiment: Experiment, from: Experiment): readonly string[] {
  const kindsOf = ({ phases }: Experiment) => phases.map(({ kind }) => kind).join()
  const words = differenceWords({ ...experiment, seed: from.seed }, from)
  const [now, before] = [experiment, from].map(stepsOf)
  return kindsOf(experiment) === kindsOf(from) || now === before
    ? words
    : [`${now} steps in place of ${before}`, ...words]
}

/** 'First run with GRPO, with lr 5e-4, 3 phases'. Of `arms` what all of them have. */
export function baseWords(experiment: Experiment, arms: readonly Experiment[] = []): string {
  const { preset_id } = decodeLink(encodeLink(experiment))
  const preset = presetOf(preset_id)
  if (!preset) return 'settings of their own'
  const all = wordsOf(experiment, preset.experiment)
  if (all.length === 0) return `“${preset.name}” as it is`
  const own = arms.map((arm) => new Set(wordsOf(arm, preset.experiment)))
  const words = all.filter((word) => own.every((said) => said.has(word)))
  if (words.length > MOST_OF_PRESET) return 'settings of their own'
  if (words.length === 0) return `“${preset.name}”, each with settings of its own`
  const more = words.length > MOST ? ` and ${words.length - MOST} more` : ''
  return `“${preset.name}”, with ${words.slice(0, MOST).join(', ')}${more}`
}

export function BaseLine(props: { readonly study: Study; readonly arms: readonly Arm[] }) {
  const { study, arms } = props
  const words = useMemo(() => {
    const base = baseOf(study)
    return (
      base &&
      baseWords(
        base,
        arms.map(({ experiment }) => experiment),
      )
    )
  }, [study, arms])
  if (words === undefined) return null
  return (
    <p className="soft" data-testid="study-base">
      All arms begin from {words}.
    </p>
  )
}
