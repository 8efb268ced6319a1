// Says a refusal of a job in the page's language and its own names: fields and their values as the
// form calls them.
import { experimentFields } from '../../../document/experiment/form/form.ts'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import { saidValue } from '../../../document/experiment/form/setting_words.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { Proposal } from '../../../jobs/scale/scale.ts'
import { t } from '../../kit/translator.ts'
import { formName, named } from '../../shown/names/labelled.ts'

/** A path, or the end of one: 'actor.loss_mode', 'target_readout', 'the phase’s steps'. */
const PATH = String.raw`(?<![\w.])([a-z]\w*(?:\.\w+)*)(?![\w(])`
const WHOSE = 'the phase’s'
/** A field with its value, and what is expected there. */
const VALUE = new RegExp(`(${WHOSE} )?${PATH} is ([^:;]*): (?:expected ([^;]*))?`, 'g')
/** Of lists, which are no fields of the form. */
const PART = /\breward\.parts\.(\d+)/g
/** In any language. */
const KIND = /\bphases\.(\d+)\.kind \S+ \w+([:：] ?)/g
/** What only a command line has. */
const COMMAND = /[,，][^,，]*--teacher PATH[^.。]*/
const CHOICES = /, or | or |, /

/** The field that a refusal means; none for a word that is no path. */
function fieldOf(path: string, isOfPhase: boolean, fields: readonly Field[]): Field | undefined {
  if (isOfPhase) return fields.find((own) => own.path.replace(/^phases\.\d+\./, '') === path)
  if (!/[._]/.test(path)) return undefined
  return (
    fields.find((own) => own.path === path) ?? fields.find((own) => own.path.endsWith(`.${path}`))
  )
}

/** A value as the menu of its field has it; undefined where it has no name there. */
function menuWords(said: string, { options, kind }: Field): string | undefined {
  if (kind === 'boolean' && /^(true|false)$/.test(said)) return saidValue(said === 'true')
  const option = options?.find(({ value }) => String(value) === said)
  const name = option && saidValue(option.value, options)
  // In a list it would be taken for two.
  return name?.includes(', ') ? `“${name}”` : name
}

/** What a refusal calls by a word of code that the menu of a field has a name for. */
function valuesOf(message: string, fields: readonly Field[]): ReadonlyMap<string, string> {
  const found = [...message.matchAll(VALUE)].flatMap(([, ofPhase, path, value, expected = '']) => {
    const field = fieldOf(path, ofPhase !== undefined, fields)
    return field ? [value, ...expected.split(CHOICES)].map((word) => [word, field] as const) : []
  })
  return new Map(
    found.flatMap(([word, field]) => {
      const name = menuWords(word, field)
      return name === undefined ? [] : [[word, t(name)] as const]
    }),
  )
}

/** `proposed`: the values of another model's job, which the dialog calls by names of its own. */
export function refusedWords(
  message: string,
  experiment: Experiment,
  proposed: readonly Proposal[] = [],
): string {
  const fields = experimentFields(experiment)
  const values = valuesOf(message, fields)
  const number = (n: string) => Number(n) + 1
  const parts = named(t(message).replace(COMMAND, ''), PART, (_, n) =>
    t(`Part ${number(n)} of the reward`),
  )
  const kinds = named(parts, KIND, (_, n, colon) => `${t(`Phase ${number(n)}`)}${colon}`)
  const whole = named(kinds, /^phase(s?)(?=[:：])/, (_, s) => t(s ? 'Phases' : 'Phase'))
  const any = new RegExp(`(${WHOSE} |${t(WHOSE)} ?)?${PATH}`, 'g')
  return named(whole, any, (code, whose, path) => {
    const own = proposed.find(({ key }) => key === path)
    if (own) return `“${t(own.label)}”`
    const field = fieldOf(path, whose !== undefined, fields)
    return field ? `“${t(formName(field))}”` : (values.get(code) ?? code)
  })
}
