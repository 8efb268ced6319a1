// Rows that cannot be used: a file is refused for them, or they are left out and told.
import { expect, test } from 'vitest'
import { choiceOf, loadDataFiles, prepareFiles } from './load_data.ts'
import { type DataPlan, USUAL_PLAN } from './plan.ts'
import { BadRowsError } from './table/bad_rows.ts'

const file = (name: string, text: string) => ({ name, bytes: new TextEncoder().encode(text) })
const PLAN: DataPlan = { ...USUAL_PLAN, prompt_key: 'q', answer_key: 'a', reward_fn_key: null }
const SKIP: DataPlan = { ...PLAN, skip_bad_rows: true }

const good = Array.from({ length: 10 }, (_, i) => `{"q":"${i}=","a":"${i}"}`)
const JSONL = file(
  'rows.jsonl',
  [
    ...good.slice(0, 3),
    'no JSON',
    '{"q":"x=","a":["1"]}',
    ...good.slice(3),
    '[1]',
    '{"q":"","a":"1"}',
    '{"q":"10=","a":NaN}',
  ].join('\n'),
)

test('a file is refused for its first bad row, and says how many others there are', async () => {
  const refused = prepareFiles(JSONL, undefined, PLAN)
  await expect(refused).rejects.toThrow(
    'rows.jsonl: line 4: expected one JSON object, found text that is no JSON; 4 other rows cannot be used either',
  )
  await expect(refused).rejects.toBeInstanceOf(BadRowsError)
})

test('they are left out where the plan says so, with their number and the first reasons', async () => {
  const { train, test: held, found } = await prepareFiles(JSONL, undefined, SKIP)
  expect(train.length + held.length).toBe(10)
  expect(found).toMatchObject({ rows: 10, dropped: 0, bad: { count: 5 } })
  expect(found.bad.first).toEqual([
    'rows.jsonl: line 4: expected one JSON object, found text that is no JSON',
    'rows.jsonl: line 13: expected one JSON object, found another value',
    'rows.jsonl: line 15: expected one JSON object, found NaN, which JSON does not have',
    'rows.jsonl: line 5, column a: expected a text as in other rows, found a list (["1"])',
    'rows.jsonl: line 14, column q: expected a prompt, found an empty text',
  ])
})

test('the rows of an experiment that leaves some out are the same when it begins', async () => {
  const names = { data: 'sha256-x', name: 'rows.jsonl', val_data: null, val_name: null }
  const choice = choiceOf(names, SKIP, await prepareFiles(JSONL, undefined, SKIP))
  expect(choice.skip_bad_rows).toBe(true)
  await loadDataFiles(choice, JSONL, undefined)
  await expect(
    loadDataFiles({ ...choice, skip_bad_rows: false }, JSONL, undefined),
  ).rejects.toThrow('line 4')
})

test.for([
  ['rows.csv', `q,a\n${good.map((_, i) => `${i}=,${i}`).join('\n')}\n1,2,3\n"x"y,1\n9=,9`, 2],
  ['rows.json', `[${good.join()},7,{"q":"x=","a":{}}]`, 2],
  // The characters that the chosen tokenizer lacks.
  ['letters.csv', `q,a\n${good.map((_, i) => `${i}=,${i}`).join('\n')}\n3=,three`, 1],
] as const)('%s', async ([name, text, bad]) => {
  const tokenizer = name === 'letters.csv' ? 'arithmetic' : 'characters'
  const {
    found,
    train,
    test: held,
  } = await prepareFiles(file(name, text), undefined, {
    ...SKIP,
    tokenizer,
  })
  expect(found.bad.count).toBe(bad)
  expect(train.length + held.length).toBeGreaterThanOrEqual(10)
})

test('a file of nothing but bad rows is refused for the first', async () => {
  const lines = Array.from({ length: 1000 }, () => '{').join('\n')
  await expect(prepareFiles(file('x.jsonl', lines), undefined, SKIP)).rejects.toThrow('line 1:')
  const empty = Array.from({ length: 9 }, () => '{"q":"","a":"1"}').join('\n')
  await expect(prepareFiles(file('x.jsonl', empty), undefined, SKIP)).rejects.toThrow('line 1')
})
