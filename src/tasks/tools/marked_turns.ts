// Writes and reads turns of vocabularies in which a character is a token: `[12+34]` calls a tool,
// which answers `46>`.
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import { nameOf, type Tool } from './tool.ts'
import type { TurnFormat } from './turn_format.ts'

/** Ends the answer of a tool, so that the policy's own text is told from it. */
const ANSWER_END = '>'

/** Where the calls and answers of a text are. */
const partsOf = (tools: readonly Tool[]): RegExp => {
  const escaped = (mark: string) => mark.replaceAll(/[\^$\\.*+?()[\]{}|/-]/g, '\\$&')
  const calls = tools.map(({ marks }) => {
    const [open, close] = [escaped(marks.open), escaped(marks.close)]
    return `(${open}[^${open}${close}]*${close})`
  })
  return new RegExp(`(?:${calls.join('|')})([^${ANSWER_END}]*${ANSWER_END})?`, 'g')
}

/** A response without its calls and their answers: what a task scores. */
export const withoutCalls = (text: string, tools: readonly Tool[]): string =>
  text.replaceAll(partsOf(tools), '')

/** 1 for each character of a demonstration that a tool would write, 0 for the rest: nobody learns
 * to write answers of tools. */
export function observedCharacters(text: string, tools: readonly Tool[]): number[] {
  const observed = new Array<number>(Array.from(text).length).fill(0)
  for (const match of text.matchAll(partsOf(tools))) {
    const answer = match.at(-1)
    if (answer === undefined) continue
    const end = Array.from(text.slice(0, match.index + match[0].length)).length
    observed.fill(1, end - Array.from(answer).length, end)
  }
  return observed
}

/** Why a vocabulary cannot write the calls of these tools; undefined where it can. */
export function markProblem(
  { tokens }: Pick<Tokenizer, 'tokens'>,
  tools: readonly Tool[],
): string | undefined {
  const marks = tools.flatMap(({ marks: { open, close } }) => [open, close])
  const missing = [...marks, ANSWER_END].find((mark) => !tokens.includes(mark))
  if (missing !== undefined)
    return `expected tools whose calls the task's vocabulary can write, but it has no ${missing}`
  const pairs = tools.map(({ marks: { open, close } }) => `${open} ${close}`)
  const shared = pairs.find((pair, i) => pairs.indexOf(pair) < i)
  if (shared !== undefined)
    return `expected tools with marks of their own, but two are called between ${shared}; give a program others by tool_marks = ["(", ")"]`
  return undefined
}

/** The format of these tools. Characters that the vocabulary lacks are left out of an answer.
 * Throws RangeError where a mark is no character of the vocabulary. */
export function markedTurns(tokenizer: Tokenizer, tools: readonly Tool[]): TurnFormat {
  const problem = markProblem(tokenizer, tools)
  if (problem !== undefined) throw new RangeError(`tools: ${problem}`)
  const known = new Set(tokenizer.tokens)
  const idOf = (mark: string) => tokenizer.encode(mark)[0]
  return {
    stopTokenIds: [...new Set(tools.map(({ marks }) => idOf(marks.close)))],
    parse(ids) {
      const content = tokenizer.decode(ids)
      for (const tool of tools) {
        const { open, close, argument } = tool.marks
        const begin = content.lastIndexOf(open)
        if (begin < 0 || !content.endsWith(close)) continue
        const text = content.slice(begin + open.length, -close.length)
        return {
          content: content.slice(0, begin),
          calls: [{ name: nameOf(tool), arguments: { [argument]: text } }],
        }
      }
      return { content, calls: [] }
    },
    answer: (text) => withoutCalls(text, tools),
    text: (ids) => tokenizer.decode(ids),
    observed: (text) => observedCharacters(text, tools),
    append: (_, answers) =>
      answers.flatMap(({ content }) => {
        const writable = Array.from(content).filter((character) => known.has(character))
        return tokenizer.encode(writable.join('') + ANSWER_END)
      }),
  }
}
