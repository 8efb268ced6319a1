// Finds added tokens in a text before the model splits it, as Rust's AddedVocabulary does.
import type { AddedToken } from './tokenizer_json.ts'

/** A part of a text: an added token, or text between two of them. */
export interface Section {
  readonly text: string
  readonly id: number | undefined
  readonly is_first: boolean
}

/** `written` is how the token stands in the text that is searched: normalized or as it is. */
export interface Sought {
  readonly token: AddedToken
  readonly written: string
}

/** The tokens of a text, one search at a time. `skipsSpecial` leaves special tokens as the text
 * that they are. */
export type FindAdded = (section: Section, skipsSpecial: boolean) => Section[]

const WORD = String.raw`[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]`
const ENDS_WITH_WORD = new RegExp(`${WORD}$`, 'u')
const BEGINS_WITH_WORD = new RegExp(`^${WORD}`, 'u')

/** Where several tokens begin at one place, the longest is taken. */
export function addedTokenFinder(sought: readonly Sought[]): FindAdded {
  const texts = sought.flatMap(({ written }) => (written === '' ? [] : [written]))
  if (texts.length === 0) return (section) => [section]
  const byText = new Map(sought.map(({ written, token }) => [written, token] as const))
  const alternatives = texts
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  const pattern = new RegExp(alternatives.join('|'), 'gu')
  return (section, skipsSpecial) => {
    const { text, is_first } = section
    const sections: Section[] = []
    let end = 0
    const put = (to: number) => {
      if (to > end)
        sections.push({ text: text.slice(end, to), id: undefined, is_first: is_first && end === 0 })
    }
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const token = byText.get(match) as AddedToken
      if (skipsSpecial && token.special) continue
      const [before, after] = [text.slice(0, index), text.slice(index + match.length)]
      if (token.single_word && (ENDS_WITH_WORD.test(before) || BEGINS_WITH_WORD.test(after)))
        continue
      const left = token.lstrip ? (/\p{White_Space}*$/u.exec(before)?.[0].length ?? 0) : 0
      const right = token.rstrip ? (/^\p{White_Space}*/u.exec(after)?.[0].length ?? 0) : 0
      put(Math.max(end, index - left))
      sections.push({ text: match, id: token.id, is_first: is_first && index === 0 })
      end = Math.max(end, index + match.length + right)
    }
    put(text.length)
    return sections
  }
}
