// Keeps how the shipped storyteller continues the beginning that the page offers, so that a person
// reads a story before a kernel is compiled.

/** A text and what the model writes after it at temperature 0; src/cli/generate.gpu.test.ts writes
 * it again. */
export const TOLD = {
  text: 'Once there was a small fox named Max. He had a red kite.',
  writes:
    ' One snowy day, the kite got stuck on a ledge. A voice spoke, and it was Tim the goat. "My kite is stuck," said Max. Tim pulled with a net. But the kite stayed where it was. Max went home and slammed the door.',
}
