// Tests what each reward accepts and refuses.
import { describe, expect, test } from 'vitest'
import { createTask } from '../index.ts'
import { fillParams } from './params.ts'
import type { ParamValue } from './reward.ts'
import { REWARDS, rewardKinds } from './rewards.ts'
import { SHAPING_PARTS } from './shaping.ts'

const task = createTask('countdown')

function scoreOf(
  id: string,
  solution_str: string,
  ground_truth: string,
  params: Readonly<Record<string, ParamValue>> = {},
  prompt = '3,4,5=17',
): number {
  const kind = rewardKinds(task).find((own) => own.id === id)
  if (!kind) throw new RangeError(id)
  return kind.create(fillParams(kind, params))({
    data_source: 'toy',
    solution_str,
    ground_truth,
    extra_info: { prompt },
  })
}

type Row = readonly [string, string, string, number, Readonly<Record<string, ParamValue>>?]

const CASES: readonly Row[] = [
  ['exact_match', '12', '12', 1],
  ['exact_match', '12 ', '12', 0],
  ['normalised_match', ' The  Eiffel-Tower! ', 'eiffeltower', 1],
  ['normalised_match', 'a cat', 'the cat', 1],
  ['normalised_match', 'a cat', 'the cat', 0, { articles: false }],
  ['normalised_match', '-1', '1', 0, { punctuation: false }],
  ['normalised_match', 'ＡＢ', 'ab', 1],
  ['number_match', 'so 2 and 3 make 5', '5', 1],
  ['number_match', '#### 1,234', 'some steps\n#### 1234', 1],
  ['number_match', '#### 5\nor 6', '5', 1],
  ['number_match', '#### 5\nor 6', '5', 0, { place: 'last' }],
  ['number_match', 'it is \\boxed{\\frac{1}{2}=.5} 7', '0.5', 1],
  ['number_match', '5', '5', 0, { place: 'boxed' }],
  ['number_match', '5', '5', 0, { place: 'hashes' }],
  ['number_match', '3.14', '3.1416', 1, { tolerance: 0.01 }],
  ['number_match', 'none', '5', 0],
  ['number_match', '-5', '5', 0],
  ['multiple_choice', 'The answer is (b).', 'B', 1],
  ['multiple_choice', 'A or C? I say C', 'C', 1],
  ['multiple_choice', 'Answer: D, not A', 'D', 1],
  ['multiple_choice', 'E', 'E', 0],
  ['multiple_choice', 'E', 'E', 1, { choices: 5 }],
  ['multiple_choice', 'Because', 'B', 0],
  ['equation', '3*4+5', '', 1],
  ['equation', '3*4+5 = 17', '', 1],
  ['equation', 'so \\boxed{5+4*3}', '', 1],
  ['equation', '3*4+4', '', 0],
  ['equation', '17', '', 0],
  ['equation', '12+5', '3,4,12,5=17', 0],
  ['equation', '12+5', '3,4,12,5=17', 1, { all_numbers: false }],
  ['equation', '5/0', '5,0=1', 0],
  ['edit_distance', 'kitten', 'sitting', 1 - 3 / 7],
  ['edit_distance', 'abc', 'abc', 1],
  ['edit_distance', '', '', 1],
  ['edit_distance', 'ab', 'cd', 0],
  ['edit_distance', 'abcd', 'abce', 0.75 * 0.75, { power: 2 }],
  ['edit_distance', '😀a', '😀b', 0.5],
  ['regex', '123', '', 1],
  ['regex', '12a', '', 0],
  ['regex', 'xx12yy', '', 1, { pattern: '\\d{2,3}' }],
  ['regex', 'xx12yy', '', 0, { pattern: '\\d{2,3}', whole: true }],
  ['json_schema', '{"a": 1}', '', 1],
  ['json_schema', '[1]', '', 0],
  ['json_schema', '{"a": 1', '', 0],
  ['format', '<think>x</think> <answer>y</answer>', '', 1],
  ['format', 'so <think>x</think><answer>y</answer>', '', 0],
  ['format', '<answer>y</answer><think>x</think>', '', 0],
  ['format', '<think><think>x</think><answer>y</answer>', '', 0],
  ['format', '<a>1</a>', '', 1, { tags: 'a' }],
  ['length', 'abc', '', 1],
  ['length', 'abcdef', '', 0.5, { longest: 1, slope: 10 }],
  ['length', '', '', 0.75, { shortest: 1, slope: 4 }],
  ['length', '😀😀', '', 1, { longest: 2, slope: 1 }],
  ['mentions', 'He was glad. Glad!', '', 1],
  ['mentions', 'He was gladly there', '', 0],
  ['mentions', 'happy happy happy proud', '', 0.5, { enough: 4 }],
  ['mentions', 'happy happy happy proud', '', 1, { enough: 4, every_time: true }],
  ['mentions', 'a FOX, and no dog', '', 1, { words: 'Fox' }],
  ['distinct_ngrams', 'so so so so', '', 1 / 3],
  ['distinct_ngrams', 'the cat saw the dog', '', 1],
  ['distinct_ngrams', 'the cat saw the dog', '', 0.8, { ngram: 1 }],
  ['distinct_ngrams', 'one', '', 0],
  ['task', '3*4+5', '', 1],
]

test.for(CASES)('%s: %o for %o is %d', ([id, response, truth, expected, params]) => {
  expect(scoreOf(id, response, truth, params)).toBeCloseTo(expected, 15)
})

test('every reward has its own id, names of settings that no part has, and legal defaults', () => {
  expect(new Set(REWARDS.map(({ id }) => id)).size).toBe(REWARDS.length)
  for (const kind of REWARDS) {
    expect(
      CASES.some(([id]) => id === kind.id),
      kind.id,
    ).toBe(true)
    expect(kind.help).toMatch(/\.$/)
    kind.create(fillParams(kind, {}))
    for (const { name } of kind.params) expect(['id', 'weight']).not.toContain(name)
  }
})

describe('settings that cannot be used are refused with their reason', () => {
  test.for([
    ['length', { slope: 0 }, /slope to be a whole number from 1 to 100000, got 0/],
    ['length', { shortest: 5, longest: 2 }, /shortest to be at most longest/],
    ['length', { size: 5 }, /expected settings of shortest, longest, slope, got size/],
    ['exact_match', { size: 5 }, /expected settings of none, got size/],
    ['number_match', { place: 'first' }, /place to be one of anywhere, hashes, boxed, last/],
    ['normalised_match', { articles: 1 }, /articles to be true or false/],
    ['format', { tags: 'a a' }, /each tag once/],
    ['format', { tags: '<a>' }, /names of letters/],
    ['mentions', { words: ' ,' }, /expected words of letters/],
    ['regex', { pattern: '(?=a)' }, /look-around/],
    ['json_schema', { schema: '{"pattern": "a"}' }, /the keyword pattern is not supported; these/],
    ['json_schema', { schema: '{"type": "date"}' }, /date is no type/],
    ['json_schema', { schema: '{' }, /expected JSON/],
  ] as const)('%s %o', ([id, params, message]) => {
    expect(() => scoreOf(id, '', '', params)).toThrow(message)
  })
})

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 3 },
    list: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 5 }, maxItems: 2 },
    kind: { enum: ['a', 1, null, { b: [1] }] },
    one: { const: 1 },
  },
  required: ['name'],
  additionalProperties: false,
})

test.for([
  ['{"name": "ab"}', 1],
  ['{"name": "😀😀😀"}', 1],
  ['{"name": "abcd"}', 0],
  ['{}', 0],
  ['{"name": "ab", "list": [1, 5.0]}', 1],
  ['{"name": "ab", "list": [1.5]}', 0],
  ['{"name": "ab", "list": [1, 2, 3]}', 0],
  ['{"name": "ab", "list": [6]}', 0],
  ['{"name": "ab", "kind": {"b": [1]}}', 1],
  ['{"name": "ab", "kind": 2}', 0],
  ['{"name": "ab", "one": 1.0}', 1],
  ['{"name": "ab", "one": true}', 0],
  ['{"name": "ab", "more": 1}', 0],
  ['{"name": "ab", "__proto__": 1}', 0],
] as const)('of the schema, %s scores %d', ([text, expected]) => {
  expect(scoreOf('json_schema', text, '', { schema: SCHEMA })).toBe(expected)
})

test('the parts that judge no answer are those that are no verifiers', () => {
  const shaping = REWARDS.filter(({ is_verifier }) => !is_verifier).map(({ id }) => id)
  expect([...SHAPING_PARTS].sort()).toEqual(shaping.sort())
})
