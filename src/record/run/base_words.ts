// Says what the arms of a study begin from: the nearest preset, and what differs from it.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { decodeLink, encodeLink } from '../../document/links/link.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { type Arm, stepsOf } from '../../document/study/arms.ts'
import { baseOf } from '../../document/study/draft/over_study.ts'
import type { Study } from '../../document/study/study.ts'
import { differenceWords, methodWords } from './difference_words.ts'

/** Of a base that no preset is near. */
const UNLIKE = 'settings of their own'
/** More differences are counted. */
const MOST = 6
/** With more than so many the preset is only the nearest one, and its name would mislead. */
const MOST_OF_PRESET = 9

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

/** The method of all these experiments, where it is another than the preset's; '' else. */
function methodOf(all: readonly Experiment[], from: Experiment): string {
  const methods = new Set(all.map(methodWords))
  const [method] = methods
  return methods.size === 1 && method !== methodWords(from) ? method : ''
}

/** '“First run with GRPO”, by PPO. These are changed: lr 5e-4; 3 phases'. Of `arms` what all of
 * them have. */
export function baseWords(experiment: Experiment, arms: readonly Experiment[] = []): string {
  const { preset_id } = decodeLink(encodeLink(experiment))
  const preset = presetOf(preset_id)
  if (!preset) return UNLIKE
  const all = wordsOf(experiment, preset.experiment)
  const method = methodOf([experiment, ...arms], preset.experiment)
  const isAlike = all.length === 0 && methodWords(experiment) === methodWords(preset.experiment)
  if (isAlike) return `“${preset.name}” as it is`
  const own = arms.map((arm) => new Set(wordsOf(arm, preset.experiment)))
  const words = all.filter((word) => own.every((said) => said.has(word)))
  if (words.length > MOST_OF_PRESET) return UNLIKE
  if (words.length === 0)
    return method === ''
      ? `“${preset.name}”, each with settings of its own`
      : `“${preset.name}”, by ${method}`
  const more = words.length > MOST ? [`and ${words.length - MOST} more`] : []
  const changed = `These are changed: ${[...words.slice(0, MOST), ...more].join('; ')}`
  return method === ''
    ? `“${preset.name}”. ${changed}`
    : `“${preset.name}”, by ${method}. ${changed}`
}

/** 'All arms begin from “First run with GRPO” as it is.', for a report; '' where no preset is near:
 * its links have the settings. */
export function nearBaseSentence(study: Study, arms: readonly Arm[]): string {
  const said = baseSentence(study, arms) ?? ''
  return said.includes(UNLIKE) ? '' : said
}

/** Whether an arm changes the base, and is not a whole other experiment: of another model, or with
 * more differences than a preset is named with. */
function isOfBase({ experiment }: Arm, base: Experiment): boolean {
  const isSameModel = experiment.model.source === base.model.source
  return isSameModel && wordsOf(experiment, base).length <= MOST_OF_PRESET
}

/** 'All arms begin from “First run with GRPO” as it is.'; of arms that are no change of the base,
 * each with what it begins from. Undefined where the base is none. */
export function baseSentence(study: Study, arms: readonly Arm[]): string | undefined {
  const base = baseOf(study)
  if (!base) return undefined
  const own = arms.filter((arm) => isOfBase(arm, base))
  const others = arms.filter((arm) => !own.includes(arm))
  const words = baseWords(
    base,
    own.map(({ experiment }) => experiment),
  )
  if (others.length === 0) return `All arms begin from ${words}.`
  const said = others.map(
    ({ name, experiment }) => `“${name}” begins from ${baseWords(experiment)}`,
  )
  if (own.length === 1) said.unshift(`“${own[0].name}” begins from ${words}`)
  else if (own.length > 1) said.push(`The other arms begin from ${words}`)
  return `${said.join('. ')}.`
}
