// Says a list of words as a sentence has it.
import { locale, t } from './translator.ts'

/** 'a, b and c' in the page's language. */
export const listWords = (words: readonly string[]): string =>
  new Intl.ListFormat(locale()).format(words.map(t))
