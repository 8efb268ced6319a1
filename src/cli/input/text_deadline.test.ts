import { afterEach, expect, test } from 'vitest'
import { USUAL_PLAN } from '../../tasks/data/plan.ts'
import { prepareData } from '../../tasks/data/prepare.ts'
import { readRows } from '../../tasks/data/readers/readers.ts'
import { installPatternGuard } from '../../tasks/tokenizers/hugging_face/pattern_guard.ts'
import { loadTokenizer } from '../../tasks/tokenizers/load_tokenizer.ts'
import { packTokenizer } from '../../tasks/tokenizers/packed.ts'
import { guardOf, limitPatterns } from './text_deadline.ts'

afterEach(() => installPatternGuard(undefined))

/** A tokenizer that has a part with a pattern which backtracks twice as long for every digit
 * more. */
const filesOf = (part: object) => ({
  'tokenizer.json': JSON.stringify({
    added_tokens: [{ id: 2, content: '<end>', special: true }],
    decoder: null,
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    model: { type: 'BPE', vocab: { '1': 0, x: 1 }, merges: [] },
    ...part,
  }),
  'tokenizer_config.json': '{"eos_token": "<end>"}',
})
const pattern = { Regex: '(\\d+)+$' }
const ENDLESS = `${'1'.repeat(40)}x`

test.for([
  ['Split', { pre_tokenizer: { type: 'Split', pattern, behavior: 'Isolated' } }],
  ['Replace', { normalizer: { type: 'Replace', pattern, content: '' } }],
] as const)('a pattern of %s that never ends is ended, and named', async ([type, part]) => {
  limitPatterns(200)
  const { encode } = await loadTokenizer(filesOf(part))
  expect(() => encode(ENDLESS)).toThrow(
    `tokenizer.json: ${type}.pattern: {"Regex":"(\\\\d+)+$"}: took longer than 200 ms on one text and was ended`,
  )
  // What ends by itself is as it was.
  expect(encode('1x')).toEqual([0, 1])
})

test('a decoder and an added token are under the same limit', async () => {
  limitPatterns(200)
  const decoder = {
    type: 'Sequence',
    decoders: [{ type: 'Fuse' }, { type: 'Replace', pattern, content: '' }],
  }
  const { decode } = await loadTokenizer(filesOf({ decoder }))
  const ids = [...new Array<number>(40).fill(0), 1]
  expect(() => decode(ids)).toThrow(/Replace\.pattern.* took longer than 200 ms/)
  const normalizer = { type: 'Replace', pattern, content: '' }
  const added_tokens = [{ id: 2, content: ENDLESS, special: true, normalized: true }]
  await expect(loadTokenizer(filesOf({ normalizer, added_tokens }))).rejects.toThrow(
    /Replace\.pattern.* took longer than 200 ms/,
  )
})

test('of a file of rows the first such text ends the reading, not each of them', async () => {
  const lines = Array.from({ length: 50 }, (_, i) => `{"prompt": "${ENDLESS}${i}", "answer": "1"}`)
  const rows = { name: 'rows.jsonl', bytes: new TextEncoder().encode(lines.join('\n')) }
  const packed = packTokenizer(
    filesOf({ pre_tokenizer: { type: 'Split', pattern, behavior: 'Isolated' } }),
  )
  const file = { name: 'tokenizer.json', bytes: new TextEncoder().encode(packed) }
  let calls = 0
  installPatternGuard((...asked) => {
    calls++
    return guardOf(500)(...asked)
  })
  const plan = {
    ...USUAL_PLAN,
    prompt_key: 'prompt',
    answer_key: 'answer',
    reward_fn_key: null,
    tokenizer: 'file',
  } as const
  await expect(prepareData(await readRows(rows), undefined, plan, { file })).rejects.toThrow(
    /tokenizer\.json: Split\.pattern.* took longer than 500 ms/,
  )
  expect(calls).toBe(1)
})
