import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arithmetic } from '../tokenizers/arithmetic.ts'
import { type DataChoice, dataTask, loadDataSet } from './data_task.ts'
import { DataFileError, readVerlRows } from './verl_rows.ts'
import { readVocabulary } from './vocabulary.ts'

const row = (content: string, ground_truth: string) =>
  JSON.stringify({
    data_source: 'toy',
    prompt: [{ role: 'user', content }],
    reward_model: { style: 'rule', ground_truth },
  })

describe('rows as verl reads them', () => {
  test('whatever rows are written are read back, empty lines left out', () => {
    const rows = fc.array(fc.record({ prompt: fc.string(), ground_truth: fc.string() }), {
      minLength: 1,
    })
    fc.assert(
      fc.property(rows, (all) => {
        const text = all.map((one) => `${row(one.prompt, one.ground_truth)}\n\n`).join('')
        expect(readVerlRows(text, 'f.jsonl')).toEqual(all)
      }),
    )
  })

  test('several messages are one prompt', () => {
    const messages = [
      { role: 'system', content: '(' },
      { role: 'user', content: '1)' },
    ]
    const text = JSON.stringify({ prompt: messages, reward_model: { ground_truth: '1' } })
    expect(readVerlRows(text, 'f').map(({ prompt }) => prompt)).toEqual(['(1)'])
  })

  test.for([
    ['{', /f: line 2: expected one JSON object/],
    ['{}', /f: line 2: prompt: expected a list of messages/],
    ['{"prompt": []}', /prompt: expected/],
    ['{"prompt": [{"role": "user"}]}', /prompt\[0\]\.content: expected a text/],
    ['{"prompt": [{"content": "1"}]}', /reward_model\.ground_truth: expected a text/],
    ['7', /prompt: expected/],
    ['null', /prompt: expected/],
  ] as const)('%s is refused with its line', ([line, message]) => {
    expect(() => readVerlRows(`${row('1', '2')}\n${line}`, 'f')).toThrow(message)
  })

  test('no text makes anything but rows or a DataFileError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        try {
          expect(readVerlRows(text, 'f').length).toBeGreaterThan(0)
        } catch (error) {
          expect(error).toBeInstanceOf(DataFileError)
        }
      }),
    )
  })
})

describe('the task of a data set', () => {
  const choice: DataChoice = {
    id: 'dataset',
    data: 'sha256-test',
    name: 'toy.jsonl',
    ...{ val_data: '', val_name: '' },
    ...{ max_prompt_length: 2, max_response_length: 2, train_size: 3, test_size: 1 },
  }
  const rowOf = (digit: number) => ({ prompt: `${digit}=`, ground_truth: `${digit}` })

  test('its sizes need no rows, its samples do', () => {
    const task = dataTask({ ...choice, data: 'sha256-unknown' })
    expect([task.max_prompt_length, task.train_size]).toEqual([2, 3])
    expect(() => task.sample(1, 0, 'train')).toThrow(/toy\.jsonl \(sha256-unknown\) is not here/)
  })

  test('a set is gone through in its order, draws are of it, held-out rows wrap around', () => {
    loadDataSet(choice.data, { train: [1, 2, 3].map(rowOf), test: [rowOf(9)] })
    const task = dataTask(choice)
    const prompts = [0, 1, 2, 3].map((i) => task.sample(1, i, 'train_set').prompt)
    expect(prompts).toEqual(['1=', '2=', '3=', '1='])
    expect(task.sample(1, 5, 'test').prompt).toBe('9=')
    const drawn = Array.from({ length: 60 }, (_, i) => task.sample(1, i, 'train').prompt)
    expect(new Set(drawn)).toEqual(new Set(['1=', '2=', '3=']))
    expect(drawn).not.toEqual(drawn.map((_, i) => task.sample(2, i, 'train').prompt))
    expect([task.score('2=', '2'), task.score('2=', '3'), task.score('9=', '9')]).toEqual([1, 0, 1])
  })

  test('two answers to one prompt are refused', () => {
    const train = [rowOf(1), { prompt: '1=', ground_truth: '2' }]
    expect(() => loadDataSet('sha256-x', { train, test: [] })).toThrow(
      /one answer to every prompt, found '1' and '2' for '1='/,
    )
  })
})

describe('a vocabulary of words', () => {
  const json = (model: unknown, added: unknown = []) =>
    JSON.stringify({ model, added_tokens: added })

  test('special tokens are left out of texts', () => {
    const vocab = Object.fromEntries(arithmetic.tokens.map((text, id) => [text, id]))
    const added = [0, 1].map((id) => ({ id, special: true }))
    const found = readVocabulary(json({ type: 'WordLevel', vocab }, added), 'tokenizer.json')
    expect(found.tokens).toEqual(arithmetic.tokens)
    expect(found.decode([...arithmetic.encode('12='), 0, 3, 1])).toBe('12=1')
  })

  test.for([
    ['{', /expected a tokenizer in JSON/],
    ['{}', /model\.type: expected WordLevel.*found none/],
    [json({ type: 'BPE', vocab: {} }), /found BPE/],
    [json({ type: 'WordLevel', vocab: { a: 0, b: 2 } }), /every id from 0 on once/],
  ] as const)('%s is refused', ([text, message]) => {
    expect(() => readVocabulary(text, 'tokenizer.json')).toThrow(message)
  })
})
