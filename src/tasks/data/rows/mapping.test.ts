import { expect, test } from 'vitest'
import { readTable } from '../readers/readers.ts'
import { DataFileError, NO_COLUMNS, VERL_MAPPING } from '../table/data_file.ts'
import { mapRows } from './mapping.ts'
import { keysOf, proposeMapping } from './propose.ts'

const tableOf = (name: string, text: string) =>
  readTable({ name, bytes: new TextEncoder().encode(text) })
const lines = (...rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n')

const VERL = lines({
  data_source: 'toy',
  prompt: [
    { role: 'system', content: '(' },
    { role: 'user', content: '1)' },
  ],
  reward_model: { style: 'rule', ground_truth: '1' },
  extra_info: { index: 0 },
})

test.for<[string, string, ReturnType<typeof proposeMapping>]>([
  ['verl.jsonl', VERL, VERL_MAPPING],
  [
    'trl.jsonl',
    lines({ prompt: 'p', solution: 's', n: 1 }),
    { ...NO_COLUMNS, prompt_key: 'prompt', answer_key: 'solution' },
  ],
  [
    'gsm8k.csv',
    'question,answer\nq,#### 4',
    { ...NO_COLUMNS, prompt_key: 'question', answer_key: 'answer' },
  ],
  [
    'caps.csv',
    'Answer,Question\n4,q',
    { ...NO_COLUMNS, prompt_key: 'Question', answer_key: 'Answer' },
  ],
  ['two.csv', '1+2=,3\n3+4=,7', { ...NO_COLUMNS, prompt_key: 'column_1', answer_key: 'column_2' }],
  ['named.csv', 'word,letters\nab,2', { ...NO_COLUMNS, prompt_key: 'word', answer_key: 'letters' }],
  ['book.txt', 'once upon\na time', { ...NO_COLUMNS, prompt_key: null, answer_key: 'text' }],
  [
    'docs.jsonl',
    lines({ id: 1, text: 'once' }),
    { ...NO_COLUMNS, prompt_key: null, answer_key: 'text' },
  ],
])('%s is mapped', async ([name, text, mapping]) => {
  expect(proposeMapping(await tableOf(name, text))).toEqual(mapping)
})

test('rows have what reward functions are told', async () => {
  expect(mapRows(await tableOf('v.jsonl', VERL), VERL_MAPPING, 'v.jsonl')[0]).toMatchObject([
    {
      prompt: '(1)',
      ground_truth: '1',
      data_source: 'toy',
      extra_info: { index: 0 },
      messages: [
        { role: 'system', content: '(' },
        { role: 'user', content: '1)' },
      ],
    },
  ])
})

test('numbers and truth values are texts; keys lead into objects, and prototypes are none of them', async () => {
  const table = await tableOf('t.jsonl', '{"p":12,"a":{"x":true,"__proto__":"u"}}')
  expect(keysOf(table)).toEqual(['p', 'a.x', 'a.__proto__', 'a'])
  const map = (answer_key: string) =>
    mapRows(table, { ...NO_COLUMNS, prompt_key: 'p', answer_key }, 't')[0]
  expect(map('a.x')).toMatchObject([{ prompt: '12', ground_truth: 'true' }])
  expect(map('a.__proto__')?.[0].ground_truth).toBe('u')
  expect(() => map('a.constructor')).toThrow(
    /line 1, column a\.constructor: expected a text, found nothing/,
  )
})

test.for<[string, RegExp]>([
  ['{"p":"1"}', /t: line 2, column a: expected a text, found nothing/],
  ['{"p":null,"a":"1"}', /t: line 2, column p: expected a text, found null/],
  ['{"p":"","a":"1"}', /column p: expected a prompt, found an empty text/],
  ['{"p":{"x":1},"a":"1"}', /column p: expected a text, found an object \({"x":1}\)/],
  ['{"p":[],"a":"1"}', /column p: expected a text, found a list/],
  ['{"p":[{"role":"user"}],"a":"1"}', /message 1 has no text as its content/],
  ['{"p":"\\ud800","a":"1"}', /column p: .*half of a character/],
  ['{"p":1e999,"a":"1"}', /column p: expected a text or a number, found Infinity/],
] as const)('%s is refused with its row and column', async ([line, message]) => {
  const table = await tableOf('t.jsonl', `{"p":"1","a":"2"}\n${line}`)
  const map = () => mapRows(table, { ...NO_COLUMNS, prompt_key: 'p', answer_key: 'a' }, 't')
  expect(map).toThrow(DataFileError)
  expect(map).toThrow(message)
})

test('a column that is not there is named', async () => {
  const table = await tableOf('t.csv', 'p,a\n1,2')
  const mapping = { ...NO_COLUMNS, prompt_key: 'question', answer_key: 'a' }
  expect(() => mapRows(table, mapping, 't')).toThrow(/a column question, found p, a/)
})
