// Declares the vocabulary that tasks on numbers and brackets share, so that a model can be moved
// between them.
import { characters } from './characters.ts'

/** 26 tokens in all: two special ones, ten digits, fourteen signs. */
export const arithmetic = characters('0123456789+-*/%=>,()[]{}')
