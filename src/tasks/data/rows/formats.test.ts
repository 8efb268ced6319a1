// Rows as people have them: each kind is recognised by what its columns hold, and becomes prompts
// and answers.
import { describe, expect, test } from 'vitest'
import { readTable } from '../readers/readers.ts'
import { mapRows } from './mapping.ts'
import { notesOf } from './notes.ts'
import { proposeMapping, unusedColumns } from './propose.ts'
import { assistant, gpt, human, made, user } from './testing.ts'

describe('conversations', () => {
  test('the last answer of messages is learnt, what is before it is the prompt', async () => {
    const { mapping, rows } = await made([
      { messages: [user('reverse ab'), assistant('ba')] },
      {
        messages: [
          { role: 'system', content: 'S.' },
          user('1'),
          assistant('2'),
          user('3'),
          assistant('4'),
        ],
      },
    ])
    expect(mapping).toMatchObject({ row_format: 'conversations', prompt_key: 'messages' })
    expect(rows.map(({ prompt, ground_truth }) => [prompt, ground_truth])).toEqual([
      ['reverse ab', 'ba'],
      ['S.123', '4'],
    ])
    expect(rows[1].messages?.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ])
  })

  test('every answer is learnt, if asked, but those that the file leaves out', async () => {
    const talk = [
      user('1'),
      assistant('2'),
      user('3'),
      { ...assistant('x'), weight: 0 },
      user('5'),
      assistant('6'),
    ]
    const { rows } = await made([{ messages: talk }], { every_turn: true })
    expect(
      rows.map(({ prompt, ground_truth, conversation }) => [prompt, ground_truth, conversation]),
    ).toEqual([
      ['1', '2', '1'],
      ['123x5', '6', '1'],
    ])
  })

  test.for(['human', 'user', 'Human'])('ShareGPT says %s', async (from) => {
    const { mapping, rows } = await made([
      { system: 'S.', conversations: [{ from, value: 'q' }, gpt('a')], id: 'x' },
    ])
    expect(mapping).toMatchObject({
      row_format: 'conversations',
      prompt_key: 'conversations',
      system_key: 'system',
    })
    expect(rows[0]).toMatchObject({ prompt: 'S.q', ground_truth: 'a' })
  })

  test.for(['gpt', 'chatgpt', 'bing', 'assistant', 'model'])('%s answers', async (from) => {
    const { rows } = await made([{ conversations: [human('q'), { from, value: 'a' }] }])
    expect(rows[0]).toMatchObject({ ground_truth: 'a', messages: [{ role: 'user', content: 'q' }] })
  })

  test('contents may be parts of text', async () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]
    const { rows } = await made([{ messages: [user(parts), assistant(parts)] }])
    expect(rows[0]).toMatchObject({ prompt: 'ab', ground_truth: 'ab' })
  })

  test.for<[unknown[], RegExp]>([
    [
      [user('q'), { role: 'tool', content: 't' }, assistant('a')],
      /message 2, a turn of tool: the calls of tools/,
    ],
    [
      [human('q'), { from: 'function_call', value: '{}' }, gpt('a')],
      /message 2, a turn of function_call/,
    ],
    [
      [user('q'), { ...assistant(null), tool_calls: [{ id: 1 }] }, assistant('a')],
      /message 2, has tool_calls/,
    ],
    [
      [user([{ type: 'image_url' }]), assistant('a')],
      /message 1 has a part that is no text \(image_url\)/,
    ],
    [
      [{ role: 'critic', content: 'q' }, assistant('a')],
      /message 1 is of "critic": expected one of system/,
    ],
    [[user('q')], /expected a turn of the assistant to learn, found none/],
    [[assistant('a')], /expected a prompt before the answer/],
    [[user('q'), assistant(null)], /message 2 has no text as its content/],
    [[], /expected messages/],
  ])('%j is a bad row', async ([messages, why]) => {
    const { bad, rows } = await made([{ messages: [user('1'), assistant('2')] }, { messages }])
    expect(rows).toHaveLength(1)
    expect(bad.first[0]).toMatch(/^r\.json: row 2, column messages: /)
    expect(bad.first[0]).toMatch(why)
  })

  test('messages that end with the user are prompts, and a turn after the answer is told', async () => {
    const { mapping } = await made([{ prompt: [user('q')], reward_model: { ground_truth: '1' } }])
    expect(mapping).toMatchObject({ row_format: 'answers', prompt_key: 'prompt' })
    const { table, mapping: own } = await made(
      [{ messages: [user('1'), assistant('2'), user('3')] }],
      {
        row_format: 'conversations',
        prompt_key: 'messages',
      },
    )
    expect(notesOf(table, own)).toEqual([
      '1 conversation ends with a turn of the user, which is not used.',
    ])
  })
})

describe('instructions', () => {
  const rows = [
    { instruction: 'Reverse.', input: 'ab', output: 'ba' },
    { instruction: 'Reverse {input} $&.', input: '', output: 'c' },
    { instruction: 'Hi', input: null, output: 'd' },
  ]

  test('and inputs are joined; an empty input is left out', async () => {
    const { mapping, rows: own } = await made(rows)
    expect(mapping).toMatchObject({
      prompt_key: 'instruction',
      input_key: 'input',
      answer_key: 'output',
    })
    expect(own.map(({ prompt }) => prompt)).toEqual(['Reverse.\nab', 'Reverse {input} $&.', 'Hi'])
  })

  test('are joined by a template of one’s own', async () => {
    const prompt_template =
      '### Instruction:\\n{instruction}\\n\\n### Input:\\n{input}\\n\\n### Response:\\n'
    const { rows: own } = await made(rows, { prompt_template })
    expect(own[0].prompt).toBe('### Instruction:\nReverse.\n\n### Input:\nab\n\n### Response:\n')
    expect(own[2].prompt).toBe('### Instruction:\nHi\n\n### Response:\n')
  })

  test('prompt and completion may be messages', async () => {
    const { mapping, rows: own } = await made([
      { prompt: [user('q')], completion: [assistant('a')] },
    ])
    expect(mapping).toMatchObject({ prompt_key: 'prompt', answer_key: 'completion' })
    expect(own[0]).toMatchObject({ prompt: 'q', ground_truth: 'a' })
  })
})

describe('columns', () => {
  test('objects and lists are kept as right answers, with all digits', async () => {
    const bytes = new TextEncoder().encode(
      '[{"prompt":"q","answer":{"n":9007199254740993,"l":[1.10,142.0,true,null]}}]',
    )
    const table = await readTable({ name: 'r.json', bytes })
    const [own] = mapRows(table, proposeMapping(table), 'r.json')
    expect(own?.[0].ground_truth).toEqual({ n: '9007199254740993', l: [1.1, 142, true, null] })
  })

  test('that are not used are named', async () => {
    const { table, mapping, rows } = await made([
      { prompt: 'q', topic: 't', level: 1, data_source: 'd', extra_info: {} },
    ])
    expect(mapping).toMatchObject({ prompt_key: 'prompt', answer_key: null })
    expect(unusedColumns(table, mapping)).toEqual(['topic', 'level'])
    expect(notesOf(table, mapping)).toEqual([
      'Not used: topic, level. (A program as reward is handed every column.)',
      expect.stringMatching(
        /^No column with right answers \(looked for .*answer.*\)\. Prompts alone can be .* by a program as reward, or by a reward model\.$/,
      ),
    ])
    expect(rows[0]).toMatchObject({ prompt: 'q', ground_truth: '' })
  })

  test('no error has an empty name', async () => {
    await expect(made([{ x: 1, y: 2, z: 3 }])).rejects.toThrow(
      /expected a column with prompts \(prompt, question.*\) and one with right answers \(.*answer.*\), found x, y, z; choose them/,
    )
    await expect(
      made([{ messages: 1 }], { row_format: 'conversations', prompt_key: null }),
    ).rejects.toThrow('expected a column with a conversation, found messages')
  })
})
