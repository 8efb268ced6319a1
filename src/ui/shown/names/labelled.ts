// Says a refusal in the page's language, and in the names that the form has for fields and their
// values.
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import { t } from '../../kit/translator.ts'

const PATH = /(?<![\w.])[a-z]\w*(?:\.\w+)+|^[a-z]\w*(?=[:：])/g
/** One that its own name does not stand behind. */
const QUOTED = /['“]([\w.-]+)['”](?! ?[(（])/g
/** Chinese has no space between its words. */
const BETWEEN_WORDS = /(?<=\p{Script=Han}) (?=[\p{Script=Han}“])|(?<=”) (?=\p{Script=Han})/gu

/** Words of code by their names, in a text that is said already. */
export const named = (
  said: string,
  code: RegExp,
  name: (whole: string, ...parts: string[]) => string,
): string => said.replace(code, name).replace(BETWEEN_WORDS, '')

/** What the form calls a field, with its phase. */
export function formName({ path, label }: Pick<Field, 'path' | 'label'>): string {
  const phase = /^phases\.(\d+)\./.exec(path)?.[1]
  return phase === undefined ? label : `Phase ${Number(phase) + 1}: ${label}`
}

/** Every field that a refusal names by its path has its label, a choice its name, and null, which
 * nobody types, is an empty field. */
export function labelled(message: string, fields: readonly Field[]): string {
  const own = fields.find(({ path }) => message.startsWith(`${path}: `))
  const said = t(message.replace(/, or null(?=,)/, ''))
  const chosen = named(said, QUOTED, (whole, word) => {
    const option = own?.options?.find(({ value }) => String(value) === word)
    return option ? `“${t(option.label)}”` : whole
  })
  return named(chosen, PATH, (path) => {
    const field = fields.find((other) => other.path === path)
    return field ? t(formName(field)) : path
  })
}
