// Declares the vocabulary of tasks on words: small letters, digits, a comma and an equals sign.
import { alphabetOf, characters } from './characters.ts'

export const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** 40 tokens in all. */
export const letters = characters(alphabetOf([LETTERS, '0123456789', ',=']))
