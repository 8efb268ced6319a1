// Reads word lists as they are written: a text of words, the most common first.

/** The words of a text, which are apart by commas or, where it has none, by spaces. */
export const listed = (text: string): readonly string[] =>
  text
    .split(text.includes(',') ? ',' : /\s+/)
    .map((word) => word.trim().replace(/\s+/g, ' '))
    .filter(Boolean)

/** The plural of a noun. */
export function plural(noun: string): string {
  const odd = ODD_PLURALS[noun]
  if (odd) return odd
  if (/(s|x|z|ch|sh)$/.test(noun)) return `${noun}es`
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return `${noun}s`
}

const ODD_PLURALS: Readonly<Record<string, string>> = {
  mouse: 'mice',
  goose: 'geese',
  wolf: 'wolves',
  calf: 'calves',
  elf: 'elves',
  child: 'children',
  sheep: 'sheep',
  deer: 'deer',
  moose: 'moose',
  bison: 'bison',
  ox: 'oxen',
  lynx: 'lynxes',
  potato: 'potatoes',
  tomato: 'tomatoes',
  mango: 'mangoes',
  loaf: 'loaves',
}

/** How words begin that take `an`. */
export const TAKES_AN = /^([aeio]|u(?!ni|se)|hon|hour|heir)/

/** The article that goes before a word. */
export const article = (word: string): 'a' | 'an' => (TAKES_AN.test(word) ? 'an' : 'a')
