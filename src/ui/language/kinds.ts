// Tells what a piece of a text is: words, a name, a value, code.

/** Anything else needs no translation. */
export const HAS_WORDS = /[A-Za-z]{2}/
/** Texts from which names of code are listed. */
const NAMES_FOLLOW =
  /(?:\bone of|\bthese are:|\blegal here:|\blooked for) $|\b(?:prompts|answers) \($/i
/** A log's own names of its metrics, whatever they mean on the page. */
const LOGGED_FOLLOW = /^In the log: $/
/** Behind it stands what was given, as it was given. */
const GIVEN_FOLLOWS = /\b(?:got|found|kept|keyword|column|two values of|is of) $/i
/** A text between the holes of a template, and what these hold. */
interface Cut {
  readonly literals: readonly string[]
  readonly values: readonly string[]
}

/** In quotes or without. */
export const WORD_OF_CODE = /^['"‘“]?[\w.*+@:-]*[\w.*+@-]['"’”]?$/
/** `'cosine' or 'constant'`: words of code, whatever they mean elsewhere. */
export const IS_CHOICE_OF_CODE = /^'[^']*'(?: \([^()]*\))?(?: or '[^']*'(?: \([^()]*\))?)+$/
/** A number, or a word that is none of a sentence. */
export const IS_VALUE = /^[−-]?\d(?:[\d.e−-]*[\de])?$|^\w*[\d_]\w*$|^none$/
const NO_VALUE = /^(?:none|nothing|less|more)$/
/** A name of several words, each with a capital or a digit, or a letter or sign: `NVIDIA H100`,
 * `cos(F, H + A)`. */
export const IS_PROPER = /^\S*[A-Z\d]\S*(?: (?:\S*[A-Z\d]\S*|[a-z+]))+$/
/** A short name and its number: `lr 1.79e-4`. */
export const NAMED_NUMBER = /^(?:critic )?[\w@.-]+ [−-]?\d[\w.−-]*$/

/** `GRPO，lr 8e-4`; a hidden name (names.ts) can be the first. */
export const IS_NAME_WITH_NUMBERS =
  /^[A-Z\u{f0000}-\u{fffff}]\S*?(?:[、，][\w@.-]+ [−-]?\d[\w.−-]*)+$/u
/** A name with a comma of its own. */
export const QUOTED = /^“([^“”]*)”$/
/** `actor.optim.lr: …`, `seed: expected …`; a setting is said by its name, with a capital. */
export const OF_A_PATH =
  /^([\w-]+(?:\.[\w-]+)+(?: \([^()]*\))?|[a-z][\w-]*(?=: (?:expected|unknown) )): ([\s\S]+)$/

/** Without a unit. */
export const IS_NUMBER = /^[\d.,]+$/
/** A number with its unit. */
const IS_QUANTITY = /^[−-]?\d[\d.,]* ?[A-Za-z%/]{1,4}$/
/** Short, and no two sentences. */
export const isName = (text: string): boolean => text.length <= 60 && !/[.!?]\s/.test(text)
/** `KL 0.05`, `32 × 8` */
const IS_SIGN_WITH_NUMBER = /^(?:[A-Z]{2,}|\d+ ×) [\d.]*\d$/
/** A word that no language has: `x.csv`, `actor.optim.lr`, `SmolLM2-135M`. */
export const isCode = (text: string): boolean =>
  text
    .split(', ')
    .every(
      (word) =>
        (/^\S*[\dA-Z._/]\S*$/.test(word) && !/[.,:;!?]$/.test(word)) ||
        IS_SIGN_WITH_NUMBER.test(word),
    ) ||
  IS_QUANTITY.test(text) ||
  /^(?:null|true|false)$/.test(text)

/** What a path is said of: `seed: expected …`. */
const OF_PATH = /^: (?:expected|unknown)\b/

/** Whether the text is cut within a path here. */
const isInPath = ({ literals, values }: Cut, hole: number): boolean =>
  /(?:^|\w)\.$/.test(literals[hole]) && /^\w/.test(values[hole] ?? '')

/** Whether a hole holds names of code, which are no words of the page. */
export function holdsCode(cut: Cut, hole: number): boolean {
  const [value, before, after] = [cut.values[hole], cut.literals[hole], cut.literals[hole + 1]]
  if (LOGGED_FOLLOW.test(before)) return true
  if (NAMES_FOLLOW.test(before))
    return value.split(/, | or | and /).every((word) => WORD_OF_CODE.test(word))
  if (GIVEN_FOLLOWS.test(before) && /, /.test(value))
    return value.split(', ').every((word) => WORD_OF_CODE.test(word))
  if (!WORD_OF_CODE.test(value)) return false
  // `actor.loss_mode is {1}: {2}`
  if (before === ' is ' && after === ': ') return true
  return (
    (GIVEN_FOLLOWS.test(before) && !NO_VALUE.test(value)) ||
    (before === '' && ((/^[a-z]/.test(value) && OF_PATH.test(after)) || /^\.\w/.test(after))) ||
    isInPath(cut, hole) ||
    (after === '.' && isInPath(cut, hole + 1))
  )
}

/** A word of English that is no name. */
export const IS_PLAIN = /^[a-z]{3,}$/
/** What is counted, behind its number: `letters`, 个字母. */
const IS_COUNTED = /^(?:个\S+|位)$/

/** A name that somebody gave, such as a data set's: behind a comma no unit stands alone. */
export const isGivenName = (word: string, said: string | undefined, before: string): boolean =>
  before.endsWith(', ') && IS_PLAIN.test(word) && IS_COUNTED.test(said ?? '')

/** A word of a language, or a name such as `Sheep`. */
export const IS_WORD = /^[A-Z][a-z]+$/

/** It begins as it does within a sentence, or as at the beginning of one. */
export function otherCase(text: string): string | undefined {
  const first = text.charAt(0)
  const other = first === first.toLowerCase() ? first.toUpperCase() : first.toLowerCase()
  return other === first ? undefined : other + text.slice(1)
}
