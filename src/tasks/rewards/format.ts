// Scores by form: reasoning between tags, then an answer between tags (DeepSeek-R1, arXiv
// 2501.12948, section 2.2.2).
import type { RewardKind } from './reward.ts'

const SPACES = /^[ \t\n\r\f\v]*$/

/** Texts between `<tag>` and `</tag>`, and what lies around them; undefined unless each tag is
 * there exactly once, in order. */
function aroundTags(text: string, tags: readonly string[]): string[] | undefined {
  const around: string[] = []
  let rest = text
  for (const mark of tags.flatMap((tag) => [`<${tag}>`, `</${tag}>`])) {
    const parts = rest.split(mark)
    if (parts.length !== 2) return undefined
    around.push(parts[0])
    rest = parts[1]
  }
  return [...around, rest]
}

/** 1 where the tags are there once each, in order, with nothing but spaces around them; else 0. */
export const format: RewardKind = {
  id: 'format',
  label: 'Format',
  help: 'The response consists of texts between tags, such as <think>…</think><answer>…</answer>.',
  params: [
    {
      name: 'tags',
      label: 'Tags',
      help: 'Names of the tags in their order, separated by spaces.',
      kind: 'text',
      default: 'think answer',
      max: 200,
    },
  ],
  is_verifier: false,
  create({ tags }) {
    const names = `${tags}`.split(' ').filter((name) => name !== '')
    if (names.length === 0 || names.some((name) => !/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)))
      throw new RangeError(`expected tags as names of letters, got '${tags}'`)
    if (new Set(names).size < names.length)
      throw new RangeError(`expected each tag once, got '${tags}'`)
    return ({ solution_str }) => {
      const around = aroundTags(solution_str, names)
      // Every second text lies outside of the tags.
      return around?.every((text, i) => i % 2 === 1 || SPACES.test(text)) ? 1 : 0
    }
  },
}
