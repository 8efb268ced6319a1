// Says a refusal of a job in the page's own names: its fields and their values as the form calls
// them.
import { experimentFields } from '../../../document/experiment/form/form.ts'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import { saidValue } from '../../../document/experiment/form/setting_words.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { Proposal } from '../../../jobs/scale/scale.ts'
import { formName } from '../../settings/form.ts'

/** A path, or the end of one: 'actor.loss_mode', 'target_readout', 'the phase’s steps'. */
const PATH = String.raw`(the phase’s )?(?<![\w.])([a-z]\w*(?:\.\w+)*)`
/** A field with its value, and what is expected there. */
const VALUE = new RegExp(`${PATH} is ([^:;]*): (?:expected ([^;]*))?`, 'g')
const ANY = new RegExp(PATH, 'g')
/** Of lists, which are no fields of the form. */
const PART = /\breward\.parts\.(\d+)/g
const KIND = /\bphases\.(\d+)\.kind is \w+: /g
/** What only a command line has. */
const COMMAND = /, or name its folder with --teacher PATH/

/** The field that a refusal means; none for a word that is no path. */
function fieldOf(path: string, isOfPhase: boolean, fields: readonly Field[]): Field | undefined {
  if (isOfPhase) return fields.find((own) => own.path.replace(/^phases\.\d+\./, '') === path)
  if (!/[._]/.test(path)) return undefined
  return (
    fields.find((own) => own.path === path) ?? fields.find((own) => own.path.endsWith(`.${path}`))
  )
}

/** A value as the menu of its field has it. */
function menuWords(said: string, { options, kind }: Field): string {
  if (kind === 'boolean' && /^(true|false)$/.test(said)) return saidValue(said === 'true')
  const option = options?.find(({ value }) => String(value) === said)
  return option ? saidValue(option.value, options) : said
}

/** `proposed`: the values of another model's job, which the dialog calls by names of its own. */
export function refusedWords(
  message: string,
  experiment: Experiment,
  proposed: readonly Proposal[] = [],
): string {
  const fields = experimentFields(experiment)
  const number = (n: string) => Number(n) + 1
  return message
    .replace(PART, (_, n: string) => `Part ${number(n)} of the reward`)
    .replace(KIND, (_, n: string) => `Phase ${number(n)}: `)
    .replace(COMMAND, '')
    .replace(/^phases(?=:)/, 'Phases')
    .replace(VALUE, (whole, ofPhase: string | undefined, path: string, value, expected) => {
      const field = fieldOf(path, ofPhase !== undefined, fields)
      if (!field) return whole
      const said = `“${formName(field)}” is ${menuWords(value, field)}: `
      if (expected === undefined) return said
      const choices = expected.split(', ').map((own: string) => menuWords(own, field))
      return `${said}expected ${choices.join(', ')}`
    })
    .replace(ANY, (whole, ofPhase: string | undefined, path: string) => {
      const own = proposed.find(({ key }) => key === path)
      if (own) return `“${own.label}”`
      const field = fieldOf(path, ofPhase !== undefined, fields)
      return field ? `“${formName(field)}”` : whole
    })
}
