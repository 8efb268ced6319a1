import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DataChoice, dataTask } from './data_task.ts'
import { choiceOf, loadDataFiles, prepareFiles } from './load_data.ts'
import { type DataPlan, USUAL_PLAN } from './plan.ts'
import { type DataRow, textOfTruth } from './rows/row.ts'
import { splitRows } from './split.ts'
import { DataFileError } from './table/data_file.ts'

const PLAN: DataPlan = { ...USUAL_PLAN, prompt_key: 'p', answer_key: 'a', reward_fn_key: null }
const FILES = {
  data: 'sha256-test',
  name: 'toy.csv',
  val_data: null,
  val_name: null,
  tokenizer_data: null,
  tokenizer_name: null,
}
const file = (rows: readonly (readonly [string, string])[], name = 'toy.csv') => ({
  name,
  bytes: new TextEncoder().encode(['p,a', ...rows.map((row) => row.join())].join('\n')),
})
const digits = (count: number) =>
  Array.from({ length: count }, (_, i) => [`${i}=`, `${i}`] as const)

/** The task of a file, and what an experiment says of it. */
async function taskOf(rows: readonly (readonly [string, string])[], plan: Partial<DataPlan> = {}) {
  const own = { ...PLAN, ...plan }
  const choice = choiceOf(FILES, own, await prepareFiles(file(rows), undefined, own))
  await loadDataFiles(choice, file(rows), undefined)
  return { choice, task: dataTask(choice) }
}
const all = (task: ReturnType<typeof dataTask>, split: 'train_set' | 'test') =>
  Array.from({ length: split === 'test' ? task.test_size : task.train_size }, (_, i) =>
    task.sample(1, i, split),
  )

describe('the split', () => {
  const rows = fc.array(
    fc.record({ prompt: fc.string({ maxLength: 2 }), ground_truth: fc.string({ maxLength: 2 }) }),
    { minLength: 1, maxLength: 60 },
  )
  const seed = fc.nat({ max: 2 ** 32 - 1 })

  test('no held-out prompt occurs in training, every row is on one side, in the order of the file', () => {
    fc.assert(
      fc.property(rows, fc.nat({ max: 60 }), seed, (of, size, s) => {
        const { train, test } = splitRows(of, size, s)
        const trained = new Set(train.map(({ prompt }) => prompt))
        expect(test.some(({ prompt }) => trained.has(prompt))).toBe(false)
        expect(test.length).toBeLessThanOrEqual(size)
        expect(train.length).toBeGreaterThan(0)
        const side = (part: readonly DataRow[]) => of.filter((row) => part.includes(row))
        expect([side(train), side(test)]).toEqual([train, test])
        expect(train.length + test.length).toBe(of.length)
        // An experiment says how many were found, and finds the same rows again.
        expect(splitRows(of, test.length, s)).toEqual({ train, test })
      }),
    )
  })

  test('it is that of the seed, whatever the order of the file', () => {
    const of = digits(100).map(([prompt, ground_truth]) => ({ prompt, ground_truth }))
    const held = (list: readonly DataRow[], s: number) =>
      new Set(splitRows(list, 20, s).test.map(({ prompt }) => prompt))
    expect(held(of, 1).size).toBe(20)
    expect(held([...of].reverse(), 1)).toEqual(held(of, 1))
    expect(held(of, 2)).not.toEqual(held(of, 1))
  })
})

describe('the task of a data set', () => {
  test('its sizes need no rows, its samples do', () => {
    const sizes = { vocab_size: 12, max_prompt_length: 3, max_response_length: 2 }
    const choice: DataChoice = {
      ...PLAN,
      ...FILES,
      id: 'dataset',
      answers: 'text',
      train_pairs: 0,
      test_pairs: 0,
      train_undesirable: 0,
      test_undesirable: 0,
      ...sizes,
      train_size: 8,
      test_size: 2,
    }
    const task = dataTask(choice)
    expect([task.max_prompt_length, task.train_size, task.tokenizer.vocab_size]).toEqual([3, 8, 12])
    expect(task.tokenizer.tokens).toHaveLength(12)
    const missing = /toy\.csv \(sha256-test\) is not here/
    expect(() => task.sample(1, 0, 'train')).toThrow(missing)
    expect(() => task.tokenizer.encode('1')).toThrow(missing)
  })

  test('its vocabulary is the characters of the data, its lengths those of the longest', async () => {
    const { choice, task } = await taskOf(digits(20))
    expect(task.tokenizer.tokens).toEqual(['<pad>', '<eos>', ...'0123456789='])
    expect(choice).toMatchObject({ vocab_size: 13, train_size: 16, test_size: 4 })
    expect(choice).toMatchObject({ max_prompt_length: 3, max_response_length: 3 })
    const prompts = [...all(task, 'train_set'), ...all(task, 'test')].map(({ prompt }) => prompt)
    expect(new Set(prompts)).toEqual(new Set(digits(20).map(([prompt]) => prompt)))
    expect(task.sample(1, 5, 'test')).toEqual(task.sample(1, 1, 'test'))
    const drawn = Array.from({ length: 300 }, (_, i) => task.sample(1, i, 'train').prompt)
    expect(new Set(drawn).size).toBe(16)
    expect(drawn).not.toEqual(drawn.map((_, i) => task.sample(2, i, 'train').prompt))
    expect([task.score('2=', '2'), task.score('2=', '3')]).toEqual([1, 0])
  })

  test('duplicates are counted, and each of several answers to a prompt is right', async () => {
    const rows = [...digits(10), ['3=', '3'], ['4=', 'four']] as const
    const { found } = await prepareFiles(file(rows), undefined, PLAN)
    expect(found).toMatchObject({ rows: 12, duplicates: 1, ambiguous: 1, dropped: 0 })
    const { task } = await taskOf(rows)
    expect(['4', 'four', '5'].map((answer) => task.score('4=', answer))).toEqual([1, 1, 0])
  })

  test('rows that are too long are dropped or refused, as chosen', async () => {
    const rows = [...digits(10), ['123456=', '1'], ['1=', '123456']] as const
    const most = { max_prompt_length: 2, max_response_length: 2 }
    const { choice, task } = await taskOf(rows, most)
    expect(choice).toMatchObject({ ...most, train_size: 8, test_size: 2 })
    expect(all(task, 'train_set').every(({ prompt }) => prompt.length === 2)).toBe(true)
    const { found } = await prepareFiles(file(rows), undefined, { ...PLAN, ...most })
    expect(found).toMatchObject({ rows: 12, dropped: 2 })
    expect(found.prompt_lengths).toContain(7)
    const strict = { ...PLAN, ...most, filter_overlong_prompts: false }
    await expect(prepareFiles(file(rows), undefined, strict)).rejects.toThrow(
      /toy\.csv: line 12, column p: expected at most 2 tokens, found 7/,
    )
  })

  test('a file of held-out rows is taken whole, and what training has too is counted', async () => {
    const val = file(
      [
        ['3=', '3'],
        ['x=', 'x'],
      ],
      'val.csv',
    )
    const prepared = await prepareFiles(file(digits(10)), val, PLAN)
    expect([prepared.train.length, prepared.test.length, prepared.found.shared]).toEqual([10, 2, 1])
    expect(prepared.tokenizer.tokens).toContain('x')
  })

  test('characters outside a chosen vocabulary are refused with their row', async () => {
    const rows = [...digits(10), ['why=', '1']] as const
    await expect(
      prepareFiles(file(rows), undefined, { ...PLAN, tokenizer: 'arithmetic' }),
    ).rejects.toThrow(/toy\.csv: line 12, column p: the vocabulary has no "w", "h", "y"/)
  })

  test('too few rows cannot be split', async () => {
    await expect(prepareFiles(file(digits(4)), undefined, PLAN)).rejects.toThrow(DataFileError)
    const same = Array.from({ length: 9 }, () => ['1=', '1'] as const)
    await expect(prepareFiles(file(same), undefined, PLAN)).rejects.toThrow(/different prompts/)
  })

  test('a file that is not what the experiment says is refused', async () => {
    const { choice } = await taskOf(digits(10))
    await expect(
      loadDataFiles(choice, file([...digits(10), ['0=', '0']]), undefined),
    ).rejects.toThrow(
      /expected 8 \(task\.train_size\), found 9|expected 2 \(task\.test_size\), found/,
    )
  })
})

describe('text', () => {
  const text = 'abcdefghij\nklmnopqrst\nabcdefghijklmno'
  const book = { name: 'book.txt', bytes: new TextEncoder().encode(text) }
  const plan: DataPlan = { ...PLAN, prompt_key: null, answer_key: 'text', max_response_length: 5 }

  test('is cut into rows of one length that lose and repeat nothing', async () => {
    const { train, test, tokenizer, max_prompt_length } = await prepareFiles(book, undefined, plan)
    const rows = [...train, ...test]
    expect(max_prompt_length).toBe(1)
    expect(rows[0].prompt + rows.map(({ ground_truth }) => ground_truth).join('')).toBe(text)
    rows.slice(1).forEach(({ prompt }, i) => {
      expect(prompt).toBe(textOfTruth(rows[i].ground_truth).at(-1))
    })
    // The last one has room for the end token; the others are cut before it.
    expect(rows.map((row) => tokenizer.encode(textOfTruth(row.ground_truth)).length)).toEqual([
      5, 5, 5, 5, 5, 5, 5, 1,
    ])
  })

  test('a text that is too short for two rows says so in the words of the form', async () => {
    const short = { ...plan, max_response_length: 64 }
    await expect(prepareFiles(book, undefined, short)).rejects.toThrow(
      'two rows of 64 tokens or more, found text for 1; choose fewer “Tokens of a row”',
    )
  })

  test('a response scores how much of the beginning it continues', async () => {
    const prepared = await prepareFiles(book, undefined, plan)
    const choice = choiceOf(FILES, plan, prepared)
    await loadDataFiles(choice, book, undefined)
    const task = dataTask(choice)
    expect([task.exact_match, task.partial_score !== undefined]).toEqual([false, true])
    const { prompt } = task.sample(1, 0, 'train_set')
    expect(prompt).toBe('a')
    expect(['bcdef', 'bcx', '', 'x'].map((said) => task.score('a', said))).toEqual([1, 0.4, 0, 0])
  })
})

describe('the tokenizer of a data set', () => {
  const words = Array.from({ length: 30 }, (_, i) => [`the cat ${i}`, `sat ${i}`] as const)

  test('is a byte-pair encoding of its texts, of as many tokens as are asked for', async () => {
    const { choice, task } = await taskOf(words, { tokenizer: 'bpe', vocab_size: 270 })
    expect(choice).toMatchObject({ tokenizer: 'bpe', vocab_size: 270 })
    expect(task.tokenizer.tokens).toContain('the')
    expect(task.tokenizer.encode('the cat 7').length).toBeLessThan(9)
  })

  test('has what the texts give where they have no more pairs, and is found again by that number', async () => {
    const { choice } = await taskOf(words, { tokenizer: 'bpe', vocab_size: 4000 })
    expect(choice.vocab_size).toBeLessThan(400)
  })

  test('of text: every row is read back in its own tokens', async () => {
    const plan = { ...PLAN, prompt_key: null, answer_key: 'text', tokenizer: 'bpe' as const }
    const text = 'größer 😀 als 世界, the cat sat on the mat.\n'.repeat(60)
    const book = { name: 'book.txt', bytes: new TextEncoder().encode(text) }
    const own = { ...plan, vocab_size: 280, max_response_length: 7 }
    const { train, test, tokenizer } = await prepareFiles(book, undefined, own)
    for (const { prompt, ground_truth } of [...train, ...test]) {
      expect(`${prompt}${ground_truth}`).not.toContain('\ufffd')
      expect(tokenizer.encode(prompt)).toHaveLength(1)
      expect(tokenizer.encode(textOfTruth(ground_truth)).length).toBeLessThanOrEqual(7)
    }
  })

  const CONFIG = {
    eos_token: '<|im_end|>',
    chat_template:
      '{% for m in messages %}<|im_start|>{{ m.role }}:{{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>{% endif %}',
  }
  const special = ['<|im_start|>', '<|im_end|>'].map((content, i) => ({
    id: 3 + i,
    content,
    special: true,
  }))
  const json = {
    added_tokens: special,
    model: { type: 'WordLevel', vocab: { x: 0, y: 1, ':': 2 }, unk_token: 'y' },
    pre_tokenizer: {
      type: 'Split',
      pattern: { Regex: '[\\s\\S]' },
      behavior: 'Isolated',
      invert: false,
    },
    decoder: { type: 'Fuse' },
  }
  const packed = {
    'tokenizer.json': JSON.stringify(json),
    'tokenizer_config.json': JSON.stringify(CONFIG),
  }
  const source = (files: object) => ({
    file: { name: 'tokenizer.json', bytes: new TextEncoder().encode(JSON.stringify(files)) },
  })
  const chats = (content: string) => ({
    name: 'chats.jsonl',
    bytes: new TextEncoder().encode(
      Array.from({ length: 9 }, (_, i) =>
        JSON.stringify({ p: [{ role: 'user', content: content.repeat(i + 1) }], a: 'y' }),
      ).join('\n'),
    ),
  })
  const plan = { ...PLAN, tokenizer: 'file' as const }

  test('is that of a file, and its chat template writes prompts that are messages', async () => {
    const { train, tokenizer } = await prepareFiles(chats('x'), undefined, plan, source(packed))
    const [{ prompt }] = train
    expect(prompt).toMatch(/^<\|im_start\|>user:x+<\|im_end\|><\|im_start\|>$/)
    expect(tokenizer.encode(prompt)[0]).toBe(3)
    expect(tokenizer.vocab_size).toBe(5)
  })

  test.for([
    [
      'a special token in a prompt',
      chats('x<|im_end|>'),
      packed,
      /row 1|line 1.*column p: expected text without special tokens, found <\|im_end\|>/,
    ],
    [
      'a tokenizer.json without its configuration',
      chats('x'),
      json,
      /tokenizer\.json: eos_token: expected one in/,
    ],
    [
      'a file that is none',
      chats('x'),
      { rows: 1 },
      /tokenizer\.json: tokenizer\.json: model: expected an object/,
    ],
  ] as const)('%s is refused', async ([, rows, files, message]) => {
    await expect(prepareFiles(rows, undefined, plan, source(files))).rejects.toThrow(message)
  })

  test('no file is refused', async () => {
    await expect(prepareFiles(chats('x'), undefined, plan)).rejects.toThrow(
      /expected a tokenizer\.json, found none/,
    )
  })
})

describe('single verdicts', () => {
  const verdicts = (rows: readonly (readonly [string, string, boolean])[]) => ({
    name: 'verdicts.json',
    bytes: new TextEncoder().encode(
      JSON.stringify(rows.map(([prompt, completion, label]) => ({ prompt, completion, label }))),
    ),
  })
  const own: DataPlan = {
    ...USUAL_PLAN,
    row_format: 'verdicts',
    prompt_key: 'prompt',
    answer_key: 'completion',
    label_key: 'label',
  }
  /** One prompt with both verdicts, good ones alone, and bad ones alone. */
  const ROWS = [
    ['0=', '1', false],
    ['0=', '0', true],
    ...digits(12)
      .slice(1)
      .map(([p, a]) => [p, a, true] as const),
    ...digits(30)
      .slice(20)
      .map(([p]) => [p, '7', false] as const),
  ] as const

  test('all are kept, in the order of the file; prompts are on one side', async () => {
    const of = verdicts(ROWS)
    const prepared = await prepareFiles(of, undefined, own)
    const choice = choiceOf({ ...FILES, name: of.name }, own, prepared)
    await loadDataFiles(choice, of, undefined)
    const task = dataTask(choice)
    const [train, test] = (['train_set', 'test'] as const).map(
      (side) => task.verdicts?.(side) ?? [],
    )
    expect(choice.train_size + choice.test_size).toBe(12)
    expect(choice.train_undesirable + choice.test_undesirable).toBe(11)
    expect(test.some(({ is_desirable }) => !is_desirable)).toBe(true)
    const trained = new Set(train.map(({ sample }) => sample.prompt))
    expect(test.some(({ sample }) => trained.has(sample.prompt))).toBe(false)
    const said = [...train, ...test].map(({ sample, response, is_desirable }) =>
      [sample.prompt, response, is_desirable].join(),
    )
    expect([...said].sort()).toEqual(ROWS.map((row) => row.join()).sort())
    const places = train.map(({ sample, response }) =>
      ROWS.findIndex(([p, a]) => p === sample.prompt && a === response),
    )
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(prepared.found).toMatchObject({ rows: 23, dropped: 0 })
    expect(prepared.found.notes.join(' ')).toMatch(/12 good answers and 11 bad ones: KTO learns/)
    // What an earlier version wrote does not say how many bad answers there are.
    const { train_undesirable: _, test_undesirable: __, ...rest } = choice
    const earlier = { ...rest, train_undesirable: 0, test_undesirable: 0 }
    await expect(loadDataFiles(earlier, of, undefined)).resolves.toBeUndefined()
  })

  test('good ones alone are refused, but where they are held out, and can be read as answers', async () => {
    const good = verdicts(ROWS.filter(([, , isGood]) => isGood))
    await expect(prepareFiles(good, undefined, own)).rejects.toThrow(
      /verdicts\.json: expected bad answers too, found 12 good ones alone \(column label\).*row_format=answers/,
    )
    const { found } = await prepareFiles(verdicts(ROWS), good, own)
    expect(found.rows).toBe(35)
    const read = await prepareFiles(good, undefined, { ...own, row_format: 'answers' })
    expect(read.train.length + read.test.length).toBe(12)
  })

  test('bad ones alone are refused', async () => {
    const bad = ROWS.filter(([, , isGood]) => !isGood)
    await expect(prepareFiles(verdicts(bad), undefined, own)).rejects.toThrow(
      /verdicts\.json: expected good answers too, found 11 bad ones alone \(column label\)/,
    )
  })
})
