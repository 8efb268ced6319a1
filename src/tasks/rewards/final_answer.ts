// Finds the answer in a longer text: behind ####, inside \boxed{…}, or last.

/** Ways to find an answer, as a setting names them. */
export const PLACES = ['anywhere', 'hashes', 'boxed', 'last'] as const

/** What follows the last ####, up to the end of its line. */
function behindHashes(text: string): string | undefined {
  const at = text.lastIndexOf('####')
  return at < 0 ? undefined : text.slice(at + 4).split('\n')[0]
}

/** What stands in the last \boxed{…}, with inner braces in pairs. */
function boxed(text: string): string | undefined {
  const at = text.lastIndexOf('\\boxed{')
  if (at < 0) return undefined
  let depth = 1
  for (let i = at + 7; i < text.length; i++) {
    if (text[i] === '{') depth++
    if (text[i] === '}' && --depth === 0) return text.slice(at + 7, i)
  }
  return undefined
}

/** The part of a text that holds its answer; undefined where the place is not there. `anywhere`
 * takes what is boxed, else what follows ####, else the whole text; `last` is the whole text. */
export function answerPart(text: string, place: string): string | undefined {
  if (place === 'hashes') return behindHashes(text)
  if (place === 'boxed') return boxed(text)
  return place === 'last' ? text : (boxed(text) ?? behindHashes(text) ?? text)
}
