// Reads the parameters of a function as a program's text declares them, read without running it:
// how long a call may take, and what a job can run, is decided before there is a sandbox. How a
// function is called the sandbox decides, by its real signature.

/** The function of a program that scores where none is named: verl's. */
export const USUAL_FUNCTION = 'compute_score'

const SOLUTIONS = [
  'model_output',
  'predict_str',
  'llm_solution',
  'llm_response',
  'model_response',
  'completion',
  'response',
  'response_str',
  'solution',
  'prediction',
  'predict',
  'pred',
  'output',
  'generated_text',
  'completion_str',
]
const TRUTHS = [
  'test_cases',
  'gt',
  'gold',
  'ground_truth_str',
  'reference',
  'reference_answer',
  'gold_answer',
  'answer',
  'target',
  'label',
  'expected',
  'expected_answer',
  'ref',
]

/** The names that files of verl and of others give to what it calls solution_str and
 * ground_truth. */
export const VERL_NAMES: Readonly<Record<string, string>> = Object.fromEntries([
  ...SOLUTIONS.map((name) => [name, 'solution_str'] as const),
  ...TRUTHS.map((name) => [name, 'ground_truth'] as const),
])

/** Parameters that say that a function takes all responses at once, as TRL, OpenRLHF and verl's
 * batch manager call it. */
const OF_BATCHES = ['completions', 'completion_ids', 'queries', 'solution_strs']

const OPENING = '([{'
const CLOSING = ')]}'

/** The names of a Python function's parameters, stars included; undefined where the text declares
 * no such function. */
export function parametersOf(source: string, name: string): readonly string[] | undefined {
  const found = new RegExp(`^(?:async[ \\t]+)?def[ \\t]+${name}[ \\t]*\\(`, 'm').exec(source)
  if (!found) return undefined
  const parts = ['']
  let depth = 0
  for (const sign of source.slice(found.index + found[0].length).replace(/#.*$/gm, '')) {
    if (CLOSING.includes(sign) && depth-- === 0) break
    if (OPENING.includes(sign)) depth++
    if (sign === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += sign
  }
  return parts.flatMap((part) => /^\s*(\*{0,2}\w+)/.exec(part)?.[1] ?? [])
}

/** Every function that a Python program declares at its outermost level. */
export const functionsOf = (source: string): readonly string[] =>
  [...source.matchAll(/^(?:async[ \t]+)?def[ \t]+(\w+)/gm)].map(([, name]) => name)

/** Whether a function of a Python program takes all responses at once; of '' whether any does. */
export function takesBatch(source: string, name: string): boolean {
  const takes = (own: string) =>
    (parametersOf(source, own) ?? []).some((parameter) => OF_BATCHES.includes(parameter))
  return name === '' ? functionsOf(source).some(takes) : takes(name)
}
