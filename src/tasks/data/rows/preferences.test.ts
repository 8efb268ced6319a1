// Preference pairs and unpaired verdicts, in the forms that files have.
import { describe, expect, test } from 'vitest'
import { assistant, gpt, human, made, user } from './testing.ts'

describe('pairs', () => {
  test.for<[string, object]>([
    ['texts', { prompt: 'q', chosen: 'a', rejected: 'b' }],
    ['messages', { prompt: [user('q')], chosen: [assistant('a')], rejected: [assistant('b')] }],
    [
      'whole conversations',
      { chosen: [user('q'), assistant('a')], rejected: [user('q'), assistant('b')] },
    ],
    [
      'a prompt beside conversations',
      { prompt: 'q', chosen: [user('q'), assistant('a')], rejected: [user('q'), assistant('b')] },
    ],
    ['ShareGPT', { conversations: [human('q')], chosen: gpt('a'), rejected: gpt('b') }],
    ['instructions', { instruction: 'q', input: '', chosen: 'a', rejected: 'b' }],
    [
      'OpenAI',
      {
        input: { messages: [user('q')] },
        preferred_output: [assistant('a')],
        non_preferred_output: [assistant('b')],
      },
    ],
  ])('as %s', async ([, row]) => {
    const { mapping, rows } = await made([row])
    expect(mapping.row_format).toBe('pairs')
    expect(rows[0]).toMatchObject({ prompt: 'q', ground_truth: 'a', rejected: ['b'] })
  })

  test('as texts that begin alike', async () => {
    const begin = '\n\nHuman: q\n\nAssistant:'
    const { rows } = await made([{ chosen: `${begin} ab`, rejected: `${begin} ac` }])
    expect(rows[0]).toMatchObject({ prompt: begin, ground_truth: ' ab', rejected: [' ac'] })
  })

  test.for<[object, RegExp]>([
    [
      { prompt: 'q', chosen: 'a', rejected: 'a' },
      /column rejected: expected a worse answer, found the same/,
    ],
    [
      { prompt: 'q', chosen: '', rejected: 'a' },
      /column chosen: expected an answer, found an empty text/,
    ],
    [
      { prompt: 'q', chosen: 'a', rejected: ' ' },
      /column rejected: expected an answer, found an empty text/,
    ],
    [
      { prompt: '', chosen: 'a', rejected: 'b' },
      /column prompt: expected a prompt, found an empty text/,
    ],
    [{ prompt: 'q', chosen: 'a' }, /column rejected: expected a text, found nothing/],
    [
      { chosen: [user('1'), assistant('a')], rejected: [user('2'), assistant('b')] },
      /expected the same conversation before both answers/,
    ],
  ])('%j is a bad row', async ([row, why]) => {
    const { bad } = await made([{ prompt: '1', chosen: '2', rejected: '3' }, row])
    expect(bad.first[0]).toMatch(why)
  })

  test('texts without a prompt are refused', async () => {
    const { bad } = await made([{ chosen: 'a', rejected: 'b' }])
    expect(bad.first[0]).toMatch(/column chosen: expected a column with the prompt/)
  })
})

describe('verdicts', () => {
  test.for<[unknown, unknown]>([
    [true, false],
    [1, 0],
    ['good', 'bad'],
    ['True', 'False'],
    [1.0, -1],
    ['desirable', 'undesirable'],
  ])('%j is good, %j is bad', async ([good, bad]) => {
    const { mapping, rows } = await made([
      { prompt: 'q', completion: 'a', label: good },
      { prompt: 'q', completion: 'b', label: bad },
    ])
    expect(mapping).toMatchObject({
      row_format: 'verdicts',
      answer_key: 'completion',
      label_key: 'label',
    })
    expect(rows.map(({ columns: _, ...row }) => row)).toEqual([
      { prompt: 'q', ground_truth: 'a' },
      { prompt: 'q', ground_truth: '', rejected: ['b'] },
    ])
  })

  test('of a conversation is about its last answer; another word is a bad row', async () => {
    const { rows, bad } = await made(
      [
        { messages: [user('q'), assistant('a')], label: true },
        { messages: [user('q'), assistant('b')], label: 'perhaps' },
      ],
      { row_format: 'verdicts', answer_key: null, label_key: 'label', prompt_key: 'messages' },
    )
    expect(rows[0]).toMatchObject({ prompt: 'q', ground_truth: 'a' })
    expect(bad.first[0]).toMatch(
      /column label: expected true or false, 1 or 0, good or bad, found "perhaps"/,
    )
  })
})
